"""Fixtures with variants of the reference cluster, synthesized by one app."""

import pytest

from tests.synth.synthesized import Synthesized, synthesize
from tests.synth.variants import write_variants


@pytest.fixture(scope="session")
def variants(tmp_path_factory: pytest.TempPathFactory) -> Synthesized:
    """Return a cluster for each change."""
    folder = tmp_path_factory.mktemp("clusters")
    write_variants(folder)
    return synthesize(tmp_path_factory.mktemp("variants"), folder)
