"""The judges: what plays AWS for the product's code, with the interface that the questions of facts use."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from local_aws.testing import SPEED, Client, emptied
from tests.contract.aws_facts.engine import Engine
from tests.contract.aws_facts.steps import Steps
from tests.soak.states_model import StatesModel, Task
from tests.soak.timeline import Timeline
from tests.unit.cluster_resource.fake_states import MACHINE, FakeStates
from tests.unit.cluster_resource.manual_clock import ManualClock

Json = dict[str, Any]
STEPS = 2


@contextmanager
def engine(client: Client) -> Iterator[Engine]:
    """Yield the embedded AWS, emptied, for all questions of a run."""
    with emptied(SPEED), Engine(client) as judge:
        yield judge


class FakeStatesJudge:
    """The fake of the custom resource's unit tests."""

    def steps(self, _: Json | None = None) -> Steps:
        """Return the fake's state machine, whose function answers after some steps."""
        clock = ManualClock()
        states = FakeStates(clock, _step, lambda _: None)

        def run(_: str) -> None:
            while (due := states.next_due()) is not None:
                clock.now = max(clock.now, due)
                states.run_due()

        return Steps(states, MACHINE, run)


class Soak:
    """The models of the soak."""

    def steps(self, _: Json | None = None) -> Steps:
        """Return the model's state machine, whose function answers after some steps."""
        timeline = Timeline(ManualClock())
        states = StatesModel(timeline, _perform, lambda _: None)
        return Steps(states, MACHINE, lambda _: timeline.pass_time(3600, until=lambda: not states.is_running))


JUDGES: dict[str, Callable[[], Any]] = {"fake_states": FakeStatesJudge, "soak": Soak}
"""The judges in this process, made anew for each question."""


def _step(payload: Json) -> Json:
    """Return the result of a step: the response after the last one."""
    count = payload.get("memory", {}).get("count", 0) + 1
    response = {"Status": "SUCCESS"} if count == STEPS else None
    return {"memory": {"count": count}, "done": response is not None, "response": response}


def _perform(task: Task) -> None:
    task.on_result(_step(task.payload))
