"""The embedded AWS for all tests below."""

from tests.simulator.conftest import aws, client, fresh_aws, hold

__all__ = ["aws", "client", "fresh_aws", "hold"]
