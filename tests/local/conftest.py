"""The embedded AWS for all tests below."""

from local_aws.testing import aws, client, fresh_aws

__all__ = ["aws", "client", "fresh_aws"]
