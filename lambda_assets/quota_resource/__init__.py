"""Implement the custom resource Custom::HyperPodComputeQuotas. Runs in Lambda, on the standard library and its boto3."""
