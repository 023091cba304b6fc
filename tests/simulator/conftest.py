"""The embedded AWS for all tests below."""

from collections.abc import Callable

import pytest

from local_aws import durations
from local_aws.testing import aws, client, fresh_aws

__all__ = ["aws", "client", "fresh_aws"]


@pytest.fixture
def hold() -> Callable[[str], object]:
    """Let something on AWS take so long that the test can look at what is before it."""
    return lambda name: durations.change({name: 1e9})
