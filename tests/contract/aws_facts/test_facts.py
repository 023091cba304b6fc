"""What AWS answers, beside what each judge that plays AWS answers."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from local_aws.server import EmbeddedAws
from local_aws.testing import SPEED, aws, clients_of, emptied
from tests.contract.aws_facts.engine import Engine
from tests.contract.aws_facts.fact import load
from tests.contract.aws_facts.judges import JUDGES
from tests.contract.aws_facts.known import KINDS, KNOWN
from tests.contract.aws_facts.page import PAGE, rewritten

__all__ = ["aws"]

ROWS = {(each.id, judge): each for each in load().values() for judge in each.judges}
OF_THE_ENGINE = [row for row in ROWS if row[1] == "engine"]
OF_OTHERS = [row for row in ROWS if row[1] != "engine"]


@pytest.fixture(scope="module")
def engine(aws: EmbeddedAws) -> Iterator[Engine]:
    with emptied(SPEED):
        with Engine(clients_of(aws)) as judge:
            yield judge
        assert judge.left == []


@pytest.mark.local
@pytest.mark.parametrize("row", OF_THE_ENGINE, ids="-".join)
def test_the_embedded_aws_answers_as_aws(engine: Engine, row: tuple[str, str]) -> None:
    require_answer(row, engine)


@pytest.mark.parametrize("row", OF_OTHERS, ids="-".join)
def test_a_fake_answers_as_aws(row: tuple[str, str]) -> None:
    require_answer(row, JUDGES[row[1]]())


def require_answer(row: tuple[str, str], judge: Any) -> None:
    """Require AWS's answer, or the known difference; one that has become AWS's own must be taken out of these."""
    asked, known = ROWS[row], KNOWN.get(row)
    answer = asked.question(judge)
    assert not known or answer != asked.expected, f"{asked.id} no longer differs: remove it from known.py"
    assert answer == (known.here if known else asked.expected)


def test_each_known_difference_is_of_a_fact_and_has_a_kind() -> None:
    assert KNOWN.keys() <= ROWS.keys()
    assert {difference.kind for difference in KNOWN.values()} <= set(KINDS)


def test_each_fact_has_a_source_and_its_date() -> None:
    dates = re.compile(r"documented|\d{4}-\d\d-\d\d")
    assert [each.id for each in ROWS.values() if not each.source or not dates.fullmatch(each.date)] == []


def test_the_page_has_the_known_differences() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert rewritten(page) == page, "run `make docs`"
