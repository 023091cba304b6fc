"""A Kubernetes version of the table that leaves standard support is a warning before, and a failure until it is acknowledged."""

import json
import warnings
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from cluster_request.eks_addons import TABLE

SOON = timedelta(days=60)
END = {"standard_support_ends": "2026-12-02"}
KEPT = {**END, "acknowledged": {"until": "2027-12-02", "why": "an upgrade passes through it"}}


def judged(row: Any, today: date) -> str:
    noted, end = row.get("acknowledged"), date.fromisoformat(row["standard_support_ends"])
    if noted and noted["why"] and today <= date.fromisoformat(noted["until"]):
        return "acknowledged"
    return "ended" if end < today else "soon" if end <= today + SOON else "supported"


@pytest.mark.parametrize(
    ("row", "today", "verdict"),
    [
        (END, "2026-10-02", "supported"),
        (END, "2026-10-03", "soon"),
        (END, "2026-12-02", "soon"),
        (END, "2026-12-03", "ended"),
        (KEPT, "2026-12-03", "acknowledged"),
        (KEPT, "2027-12-03", "ended"),
    ],
)
def test_an_end_is_a_warning_60_days_before_and_a_failure_after(row: Any, today: str, verdict: str) -> None:
    assert judged(row, date.fromisoformat(today)) == verdict


@pytest.mark.filterwarnings("default::UserWarning")
def test_no_version_has_left_standard_support_unnoticed() -> None:
    rows = json.loads(TABLE.read_text())["kubernetes"]
    verdicts = {name: judged(row, datetime.now(UTC).date()) for name, row in rows.items()}
    if soon := [name for name, verdict in verdicts.items() if verdict == "soon"]:
        warnings.warn(f"{TABLE.name}: {soon} leave standard support soon; add a newer version", stacklevel=1)
    assert "ended" not in verdicts.values(), f"{verdicts}: add a newer version, or `acknowledged: until, why`"
