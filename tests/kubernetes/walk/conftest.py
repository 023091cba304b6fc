"""A checkout whose `cdk` creates EKS clusters with a real control plane."""

from collections.abc import Iterator

import pytest

from local_aws import durations
from local_aws.clock import DEFAULT_SPEED, clock
from local_aws.testing import aws, client, fresh_aws
from tests.local.walk.conftest import workspace_in

__all__ = ["aws", "client", "fresh_aws", "workspace_in"]

SPEED = 600.0


@pytest.fixture(autouse=True)
def fast() -> Iterator[None]:
    """A control plane that is started as fast as its processes."""
    durations.change({"eks.create": 1})
    yield
    durations.reset()
    clock.set_speed(DEFAULT_SPEED)
