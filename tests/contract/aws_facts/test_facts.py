"""What AWS answers, beside what each judge that plays AWS answers."""

from collections.abc import Iterator
from typing import Any

import pytest

from local_aws.server import EmbeddedAws
from local_aws.testing import aws, clients_of
from tests.contract.aws_facts.engine import Engine
from tests.contract.aws_facts.fact import Fact, load
from tests.contract.aws_facts.judges import JUDGES, engine
from tests.contract.aws_facts.known import KINDS, KNOWN
from tests.contract.aws_facts.page import PAGE, rewritten

__all__ = ["aws"]

FACTS = load()
ROWS = [(fact, judge) for fact in FACTS.values() for judge in fact.judges]
OF_THE_ENGINE = [fact for fact, judge in ROWS if judge == "engine"]
OF_OTHERS = [(fact, judge) for fact, judge in ROWS if judge != "engine"]


@pytest.fixture(scope="module")
def judge(aws: EmbeddedAws) -> Iterator[Engine]:
    with engine(clients_of(aws)) as found:
        yield found


@pytest.mark.local
@pytest.mark.parametrize("fact", OF_THE_ENGINE, ids=lambda fact: fact.id)
def test_the_embedded_aws_answers_as_aws(judge: Engine, fact: Fact) -> None:
    assert judge_of(fact, "engine", judge) == expected_of(fact, "engine")


@pytest.mark.parametrize(("fact", "name"), OF_OTHERS, ids=lambda value: value.id if isinstance(value, Fact) else value)
def test_a_fake_answers_as_aws(fact: Fact, name: str) -> None:
    assert judge_of(fact, name, JUDGES[name]()) == expected_of(fact, name)


def judge_of(fact: Fact, name: str, judge: Any) -> Any:
    """The answer; one that has become AWS's own must be taken out of the known differences."""
    answer = fact.question(judge)
    if (fact.id, name) in KNOWN and answer == fact.expected:
        pytest.fail(f"{fact.id} no longer differs: remove it from known.py")
    return answer


def expected_of(fact: Fact, judge: str) -> Any:
    """AWS's answer, or the known difference."""
    known = KNOWN.get((fact.id, judge))
    return known.here if known else fact.expected


def test_each_known_difference_is_of_a_fact_and_has_a_kind() -> None:
    assert set(KNOWN) <= {(fact.id, judge) for fact, judge in ROWS}
    assert {difference.kind for difference in KNOWN.values()} <= set(KINDS)


@pytest.mark.parametrize("fact", FACTS.values(), ids=lambda fact: fact.id)
def test_each_fact_has_a_source_and_its_date(fact: Fact) -> None:
    assert fact.source
    assert fact.date == "documented" or len(fact.date) == len("2026-11-28")


def test_the_page_has_the_known_differences() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert rewritten(page) == page, "run `make docs`"
