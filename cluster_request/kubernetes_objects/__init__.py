"""Build the objects that HyperPod needs in an EKS cluster before CreateCluster. Imports no aws_cdk.

Source of the facts: HyperPodHelmChart 0.1.0 of https://github.com/aws/sagemaker-hyperpod-cli (commit 011ca927).
"""
