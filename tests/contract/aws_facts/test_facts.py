"""What AWS answers, beside what each judge that plays AWS answers."""

import re
from collections.abc import Iterator

import pytest

from local_aws.server import EmbeddedAws
from local_aws.testing import SPEED, aws, clients_of, emptied
from tests.contract.aws_facts.engine import Engine, Json, Steps
from tests.contract.aws_facts.fact import load
from tests.contract.aws_facts.known import KNOWN, PAGE, rewritten
from tests.soak.cloudformation import CloudFormation
from tests.soak.lambda_model import LambdaModel, Target
from tests.soak.states_model import StatesModel
from tests.soak.timeline import Timeline
from tests.unit.cluster_resource.fake_states import MACHINE, FakeStates
from tests.unit.cluster_resource.manual_clock import ManualClock

__all__ = ["aws"]

ROWS = {(each.id, judge): each for each in load().values() for judge in each.judges}
PARAMETERS = [pytest.param(row, marks=[pytest.mark.local] if row[1] == "engine" else []) for row in ROWS]


class FakeStatesJudge:
    """The fake of the custom resource's unit tests, whose function answers after some steps, or never."""

    def steps(self, last: int = 2) -> Steps:
        states = FakeStates(ManualClock(), lambda payload: _step(payload, last), lambda _: None)
        return Steps(states, MACHINE, lambda _: states.pass_time(1_000_000))

    def waiting(self, _: int = 0) -> Steps:
        return self.steps(last=0)


class Soak(FakeStatesJudge):
    """The models of the soak, as `Engine` and `CustomResource` play them."""

    def __init__(self) -> None:
        self._timeline, self._answers = Timeline(ManualClock()), dict[str, Json]()
        self._stack = CloudFormation(self._timeline, self._deliver)

    def steps(self, last: int = 2) -> Steps:
        states = StatesModel(self._timeline, lambda task: task.on_result(_step(task.payload, last)), lambda _: None)
        return Steps(states, MACHINE, lambda _: self._timeline.pass_time(3600, until=lambda: not states.is_running))

    def lost_event(self, age_s: int = 21_600) -> Json:
        records = list[Json]()
        LambdaModel(self._timeline).send(Target(lambda _, fail: fail(ValueError("no")), (60, 120), age_s, records.append), {})
        self._timeline.pass_time(3600)
        [record] = records
        return dict(record["requestContext"])

    def answer(self, answers: Json) -> None:
        file = ("four", "six", "login")[len(self._answers)]
        self._answers[file] = answers
        self._stack.deploy(file)
        self._timeline.pass_time(3600, until=lambda: self._stack.current is None)

    def delete(self) -> str:
        self._stack.destroy()
        self._timeline.pass_time(3600, until=lambda: self._stack.current is None)
        return "DELETE_COMPLETE" if self._stack.phase == "idle" else self._stack.phase

    def requests(self) -> list[str]:
        return [f"{sent.kind} {sent.raw.get('PhysicalResourceId', '')}".strip() for sent in self._stack.requests.values()]

    def _deliver(self, raw: Json) -> None:
        answers = self._answers[self._stack.requests[raw["RequestId"]].file]
        body = {"Status": "SUCCESS", "PhysicalResourceId": "made", **raw, **answers.get(raw["RequestType"], {})}
        self._timeline.after(1, lambda: self._stack.answer(raw["RequestId"], body))


def _step(payload: Json, last: int) -> Json:
    """Return the result of a step: the response after the last one."""
    count = payload.get("memory", {}).get("count", 0) + 1
    response = {"Status": "SUCCESS"} if count == last else None
    return {"memory": {"count": count}, "done": response is not None, "response": response}


@pytest.fixture(scope="module")
def engine(aws: EmbeddedAws) -> Iterator[Engine]:
    with emptied(SPEED):
        with Engine(clients_of(aws)) as judge:
            yield judge
        assert judge.left == []


@pytest.mark.parametrize("row", PARAMETERS, ids="-".join)
def test_a_judge_answers_as_aws_or_with_the_known_difference(request: pytest.FixtureRequest, row: tuple[str, str]) -> None:
    judge = request.getfixturevalue("engine") if row[1] == "engine" else {"fake_states": FakeStatesJudge, "soak": Soak}[row[1]]()
    asked, known = ROWS[row], KNOWN.get(row)
    answer = asked.question(judge)
    assert not known or answer != asked.expected, f"{asked.id} no longer differs: remove it from known.py"
    assert answer == (known.here if known else asked.expected)


def test_each_fact_has_a_source_and_its_date() -> None:
    dates = re.compile(r"documented|\d{4}-\d\d-\d\d")
    assert [each.id for each in ROWS.values() if not each.source or not dates.fullmatch(each.date)] == []


def test_the_page_has_the_known_differences_each_of_a_fact() -> None:
    assert KNOWN.keys() <= ROWS.keys()
    page = PAGE.read_text(encoding="utf-8")
    assert rewritten(page) == page, "run `make docs`"
