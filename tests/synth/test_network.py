"""What the Network stack defines."""

from tests.synth.synthesized import Synthesized


def test_debug(shipped: Synthesized, variants: Synthesized) -> None:
    assert shipped.clusters == ["fsdp-g5", "reference", "resilient-p5"]
    assert len(variants.clusters) > 10
