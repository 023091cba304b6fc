"""The reference cluster with one thing changed at a time, all synthesized by one app."""

import pytest

from tests.synth.synthesized import Synthesized, synthesize
from tests.synth.variants import write_variants


@pytest.fixture(scope="session")
def variants(tmp_path_factory: pytest.TempPathFactory) -> Synthesized:
    """A cluster for every change."""
    folder = tmp_path_factory.mktemp("clusters")
    write_variants(folder)
    return synthesize(tmp_path_factory.mktemp("variants"), folder)
