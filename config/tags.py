"""Define the tags that identify the owner of a resource; other tags must not start with the prefix."""

PREFIX = "hyperpod-cdk:"

RESERVED = ("aws:", PREFIX)
"""Prefixes that tags of a cluster file must not have."""

CLUSTER_TAG = PREFIX + "cluster"
"""The cluster file's name, on all resources of its stacks."""

NETWORK_TAG = PREFIX + "network"
"""The network of a file system."""

SAGEMAKER_TAG = "SageMaker"
"""With the value `true`, AWS's policies for HyperPod on EKS allow actions on a resource."""

# The cluster's owner, as lambda_assets/cluster_resource/event.py reads and writes it.
STACK_ID_TAG = PREFIX + "stack-id"
LOGICAL_ID_TAG = PREFIX + "logical-id"
VERSION_TAG = PREFIX + "version"
