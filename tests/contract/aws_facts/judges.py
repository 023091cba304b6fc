"""The judges in this process, with the interface that the questions of facts use; each question gets new ones."""

from collections.abc import Callable
from typing import Any

from tests.contract.aws_facts.engine import Json, Steps
from tests.soak.lambda_model import LambdaModel, Target
from tests.soak.states_model import StatesModel
from tests.soak.timeline import Timeline
from tests.unit.cluster_resource.fake_states import MACHINE, FakeStates
from tests.unit.cluster_resource.manual_clock import ManualClock

NEVER = 0


class FakeStatesJudge:
    """The fake of the custom resource's unit tests."""

    def steps(self, last: int = 2) -> Steps:
        """Return its state machine, whose function answers after some steps."""
        clock = ManualClock()
        states = FakeStates(clock, lambda payload: _step(payload, last), lambda _: None)

        def run(_: str) -> None:
            while (due := states.next_due()) is not None:
                clock.now = max(clock.now, due)
                states.run_due()

        return Steps(states, MACHINE, run)

    def waiting(self, _: int = 0) -> Steps:
        """Return one whose function never answers."""
        return self.steps(last=NEVER)


class Soak(FakeStatesJudge):
    """The models of the soak."""

    def steps(self, last: int = 2) -> Steps:
        """Return the model's state machine, whose function answers after some steps."""
        timeline = Timeline(ManualClock())
        states = StatesModel(timeline, lambda task: task.on_result(_step(task.payload, last)), lambda _: None)
        return Steps(states, MACHINE, lambda _: timeline.pass_time(3600, until=lambda: not states.is_running))

    def lost_event(self, age_s: int = 21_600) -> Json:
        """Return the context in the record of an event that a function fails to process, with the number of attempts."""
        timeline, records = Timeline(ManualClock()), list[Json]()
        failing = Target(lambda _, fail: fail(ValueError("no")), (60, 120), age_s, records.append)
        LambdaModel(timeline).send(failing, {})
        timeline.pass_time(3600)
        [record] = records
        return dict(record["requestContext"])


JUDGES: dict[str, Callable[[], Any]] = {"fake_states": FakeStatesJudge, "soak": Soak}


def _step(payload: Json, last: int) -> Json:
    """Return the result of a step: the response after the last one."""
    count = payload.get("memory", {}).get("count", 0) + 1
    response = {"Status": "SUCCESS"} if count == last else None
    return {"memory": {"count": count}, "done": response is not None, "response": response}
