"""The page of the embedded AWS's assumptions: every switch is there, and every row states its proof or that it has none."""

import re
from pathlib import Path

import pytest

from local_aws.hyperpod.service_behaviour import CHOICES

PROJECT = Path(__file__).parents[3]
PAGE = (PROJECT / "docs" / "internals" / "fidelity.md").read_text(encoding="utf-8")
CHECKS = range(1, 8)


def rows(heading: str) -> list[list[str]]:
    """The cells of the table below a heading."""
    _, _, rest = PAGE.partition(f"{heading}\n")
    lines = [line for line in re.split(r"^#", rest, maxsplit=1, flags=re.MULTILINE)[0].splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[1:]]


ROWS = rows("## Assumptions about AWS")
OF_THE_AGENT = rows("### How the agent behaves")


def test_there_are_two_tables() -> None:
    assert len(ROWS) > 15
    assert len(OF_THE_AGENT) > 10


@pytest.mark.parametrize("row", [*ROWS, *OF_THE_AGENT], ids=lambda row: row[0][:40])
def test_each_assumption_has_a_proof_or_says_that_it_has_none(row: list[str]) -> None:
    proof = row[-1].strip("| ")
    if proof.startswith("settled: "):
        assert re.search(r"\(https://\S+\), 20\d\d\b", proof), proof
        return
    if not proof.startswith("unproven"):
        folder = re.search(r"tests/data/aws/[0-9-]+", proof)
        assert folder, proof
        assert (PROJECT / folder[0]).is_dir()
    assert {int(number) for number in re.findall(r"\d+", proof.partition(":")[2])} <= set(CHECKS)


def test_each_switch_is_beside_its_assumption_with_its_values_the_default_first() -> None:
    switches = {match[1]: re.findall(r"`(\w+)`", match[2]) for row in ROWS if (match := re.match(r"`(\w+)`: (.+)", row[1]))}
    assert switches == {name: list(values) for name, values in CHOICES.items()}
