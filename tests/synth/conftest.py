"""Fixtures with variants of the reference cluster, synthesized by one app."""

import pytest

from tests.faults_table.recording import requested
from tests.synth.synthesized import CLUSTER, StackTemplate, Synthesized, synthesize
from tests.synth.variants import write_variants
from tests.unit.cluster_resource.modes import mode_of_request

FILES = {"scripts": "reference", "api": "starter"}
"""A shipped file for each of the two kinds of requests; that of `api` has continuous provisioning."""


@pytest.fixture(params=FILES)
def mode(request: pytest.FixtureRequest) -> str:
    """Return the kind of the cluster's request."""
    chosen: str = request.param
    return chosen


@pytest.fixture
def stack_of_each_mode(shipped: Synthesized, mode: str) -> StackTemplate:
    """Return the cluster's stack of a file in the mode."""
    stack = shipped[FILES[mode], CLUSTER]
    requested(mode_of_request(stack.properties("Custom::HyperPodCluster")["Request"]))
    return stack


@pytest.fixture(scope="session")
def variants(tmp_path_factory: pytest.TempPathFactory) -> Synthesized:
    """Return a cluster for each change."""
    folder = tmp_path_factory.mktemp("clusters")
    write_variants(folder)
    return synthesize(tmp_path_factory.mktemp("variants"), folder)
