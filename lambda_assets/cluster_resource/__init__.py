"""Runs in Lambda as the custom resource Custom::HyperPodCluster. Standard library and the boto3 of the runtime."""
