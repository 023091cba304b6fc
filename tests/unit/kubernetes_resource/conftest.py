"""Fixtures of the applier's tests."""

import pytest

from tests.unit.kubernetes_resource.dependencies_world import DependenciesWorld


@pytest.fixture
def world() -> DependenciesWorld:
    """An empty EKS cluster."""
    return DependenciesWorld()
