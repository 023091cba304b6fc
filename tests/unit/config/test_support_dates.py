"""Standard support of the table's Kubernetes versions ends: a warning 60 days before, a failure afterwards until acknowledged."""

import json
import warnings
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from cluster_request.eks_addons import TABLE

ROWS = json.loads(TABLE.read_text())["kubernetes"]
SOON = timedelta(days=60)
END = {"standard_support_ends": "2026-12-02"}
KEPT = {**END, "acknowledged": {"until": "2027-12-02", "why": "an upgrade passes through it"}}


def judged(rows: Mapping[str, Any], today: date) -> tuple[list[str], list[str]]:
    """Return the versions whose support ends soon, and those whose support ended, without acknowledged ones."""
    noted = {name: row["acknowledged"] for name, row in rows.items() if "acknowledged" in row}
    kept = {name for name, each in noted.items() if each["why"] and today <= date.fromisoformat(each["until"])}
    ends = {name: date.fromisoformat(row["standard_support_ends"]) for name, row in rows.items() if name not in kept}
    soon = [name for name, end in ends.items() if today <= end <= today + SOON]
    return soon, [name for name, end in ends.items() if end < today]


@pytest.mark.parametrize(
    ("row", "today", "soon", "ended"),
    [
        (END, "2026-10-02", False, False),
        (END, "2026-10-03", True, False),
        (END, "2026-12-02", True, False),
        (END, "2026-12-03", False, True),
        (KEPT, "2026-12-03", False, False),
        (KEPT, "2027-12-03", False, True),
    ],
)
def test_an_end_is_a_warning_60_days_before_and_a_failure_after(row: Any, today: str, *, soon: bool, ended: bool) -> None:
    assert judged({"1.34": row}, date.fromisoformat(today)) == (["1.34"] * soon, ["1.34"] * ended)


@pytest.mark.filterwarnings("default::UserWarning")
def test_no_version_has_left_standard_support_unnoticed() -> None:
    soon, ended = judged(ROWS, datetime.now(UTC).date())
    for name in soon:
        warnings.warn(f"{TABLE.name}: Kubernetes {name} leaves standard support soon; add a newer version", stacklevel=1)
    assert ended == [], f"add a newer version to {TABLE.name}, or `acknowledged: until, why` to these"
