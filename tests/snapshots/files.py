"""The committed templates: three clusters' as they are, and those of the others as differences from one of them."""

import difflib
import re
from collections.abc import Iterator
from pathlib import Path

from cli.snapshot.readable import readable
from tests.synth.synthesized import Synthesized

FOLDER = Path(__file__).parent
WHOLE, DIFFERENCE = ".template.yaml", ".template.diff"
BASES = {"eks": "eks-p5", "fsdp-g5": "starter", "reference": "starter", "research-team": "starter"}
REGION = re.compile(r"\b[a-z]{2}-[a-z]+-[0-9]\b")
REWRITE = "make snapshots"


def expected(synthesized: Synthesized, folder: Path = FOLDER) -> dict[Path, str]:
    """Return the expected content of the files in the folder."""
    texts = {place: readable(template.text) for place, template in synthesized.templates.items()}
    files: dict[Path, str] = {}
    for (cluster, stack), text in texts.items():
        if base := texts.get((BASES.get(cluster, ""), stack)):
            files[folder / cluster / f"{stack}{DIFFERENCE}"] = "\n".join(_difference(BASES[cluster], cluster, base, text)) + "\n"
        else:
            files[folder / cluster / f"{stack}{WHOLE}"] = text
    return files


def committed(folder: Path = FOLDER) -> set[Path]:
    """Return the existing files."""
    return {*folder.glob(f"*/*{WHOLE}"), *folder.glob(f"*/*{DIFFERENCE}")}


def _difference(base: str, cluster: str, old: str, new: str) -> Iterator[str]:
    """Yield the lines that differ; headings name the resource instead of lines, which other changes move."""
    yield f"What differs from the template of {base}, apart from the name and the region:"
    old = old.replace(base, cluster)
    if (region := REGION.search(old)) and (own := REGION.search(new)):
        old = old.replace(region[0], own[0])
    lines = old.splitlines()
    for line in list(difflib.unified_diff(lines, new.splitlines(), n=1, lineterm=""))[2:]:
        if line.startswith("@@"):
            start = int(line.split(",")[0].removeprefix("@@ -").split()[0])
            yield f"@@ {_resource(lines[:start])}"
        else:
            yield line


def _resource(lines: list[str]) -> str:
    """Return the name of the resource or output in which the lines end."""
    return next((line.strip(" :") for line in reversed(lines) if line[:2] == "  " and line[2:3].isalnum()), "")
