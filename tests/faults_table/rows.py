"""The rows of docs/internals/faults.md, and the tests that carry their numbers."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "internals" / "faults.md"
LAST_WITHOUT_NODES = 59
"""The last row that needs no simulated nodes: those that follow are about what runs on nodes."""

_ROW = re.compile(r"^\| (?P<number>\d+) \| (?P<fault>[^|\s][^|]*) \| (?P<outcome>[^|\s][^|]*) \|$", re.MULTILINE)
_MARK = re.compile(r"mark\.fault\((?P<number>\d+)\)")


@dataclass(frozen=True)
class Row:
    """One fault."""

    number: int
    fault: str
    outcome: str


def rows() -> list[Row]:
    """All rows, as the page has them."""
    found = _ROW.finditer(PAGE.read_text(encoding="utf-8"))
    return [Row(int(row["number"]), row["fault"].strip(), row["outcome"].strip()) for row in found]


def marked(folder: Path = ROOT / "tests") -> dict[int, set[Path]]:
    """The rows that tests below ``folder`` carry, each with the files of those tests."""
    found: dict[int, set[Path]] = {}
    for file in folder.rglob("test_*.py"):
        for mark in _MARK.finditer(file.read_text(encoding="utf-8")):
            found.setdefault(int(mark["number"]), set()).add(file)
    return found
