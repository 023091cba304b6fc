"""Fixtures of the tests of compute quotas."""

import pytest

from tests.unit.quota_resource.quota_world import QuotaWorld


@pytest.fixture
def world() -> QuotaWorld:
    """A cluster without quotas."""
    return QuotaWorld()
