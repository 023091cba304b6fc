"""Implement the custom resource Custom::HyperPodDependencies. Runs in Lambda, on the standard library and the runtime's boto3."""
