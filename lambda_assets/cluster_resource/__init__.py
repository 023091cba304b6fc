"""Implement the custom resource Custom::HyperPodCluster. Runs in Lambda, on the standard library and the runtime's boto3."""
