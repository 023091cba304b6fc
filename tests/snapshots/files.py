"""The committed templates."""

from pathlib import Path

from cli.snapshot.readable import readable
from tests.synth.synthesized import Synthesized

FOLDER = Path(__file__).parent
ENDING = ".template.yaml"
REWRITE = "make snapshots"


def expected(synthesized: Synthesized, folder: Path = FOLDER) -> dict[Path, str]:
    """Return the expected content of the files in the folder."""
    return {
        folder / cluster / f"{stack}{ENDING}": readable(template.text)
        for (cluster, stack), template in synthesized.templates.items()
    }


def committed(folder: Path = FOLDER) -> set[Path]:
    """Return the existing files."""
    return set(folder.glob(f"*/*{ENDING}"))
