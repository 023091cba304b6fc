"""docs/reference/validation.md names checks that there are."""

import re
from pathlib import Path

DOCS = Path(__file__).parents[3] / "docs" / "reference"


def checks_of_preflight() -> set[str]:
    page = (DOCS / "preflight.md").read_text(encoding="utf-8")
    table = page.partition("## Checks")[2].partition("\n## ")[0]
    return set(re.findall(r"^\| `([a-z ]+)` \|", table, re.MULTILINE))


def test_what_is_left_to_preflight_is_checked_there() -> None:
    page = (DOCS / "validation.md").read_text(encoding="utf-8")
    table = page.partition("## What `validate` leaves")[2].partition("\n## ")[0]
    rows = [line.split(" | ")[-1] for line in table.splitlines() if line.startswith("| ") and "`" in line.split(" | ")[-1]]
    named = {check for row in rows for check in re.findall(r"`([^`]+)`", row)} - {"preflight"}
    assert len(named) > 10
    assert named <= checks_of_preflight()
