"""The committed templates."""

from pathlib import Path

from tests.snapshots.readable import readable
from tests.synth.synthesized import Synthesized

FOLDER = Path(__file__).parent
ENDING = ".template.yaml"
REWRITE = "make snapshots"


def expected(synthesized: Synthesized) -> dict[Path, str]:
    """What the committed files must hold."""
    return {
        FOLDER / cluster / f"{stack}{ENDING}": readable(template.text)
        for (cluster, stack), template in synthesized.templates.items()
    }


def committed() -> set[Path]:
    """The files that are there."""
    return set(FOLDER.glob(f"*/*{ENDING}"))
