"""The embedded AWS, whose SageMaker is asked for clusters."""

from local_aws.testing import aws, client, fresh_aws

__all__ = ["aws", "client", "fresh_aws"]
