"""Step Functions with our state machine, whose tasks take time, die, are retried and time out."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from tests.soak.timeline import Timeline
from tests.unit.cluster_resource.fake_states import TIMEOUT_S, WAIT_S, FakeExecution, FakeStates

Json = dict[str, Any]
RETRIES = 6
FIRST_RETRY_S = 2
LONGEST_RETRY_S = 60


@dataclass
class Task:
    """One invocation of the step function for one state of an execution."""

    execution: FakeExecution
    payload: Json
    on_result: Callable[[Json], None]
    on_error: Callable[[Exception], None]


class StatesModel(FakeStates):
    """The state machine on a timeline. Lists and descriptions may lag behind, as AWS documents."""

    def __init__(self, timeline: Timeline, run: Callable[[Task], None], on_end: Callable[[Json], None]) -> None:
        super().__init__(timeline.clock, _is_never_called, on_end)
        self._timeline = timeline
        self._run = run
        self.lag_s = 0.0

    def start_execution(self, **request: Any) -> Json:
        is_new = request.get("name") not in self.executions
        reply = super().start_execution(**request)
        if is_new:
            execution = self.executions[request["name"]]
            self._timeline.after(TIMEOUT_S, lambda: self.end(execution, "TIMED_OUT"))
            self._timeline.after(0, lambda: self._enter(execution))
        return reply

    def list_executions(self, **request: Any) -> Json:
        found = super().list_executions(**request)
        return {**found, "executions": [summary for summary in found["executions"] if self._is_shown(summary)]}

    def describe_execution(self, **request: Any) -> Json:
        found = super().describe_execution(**request)
        if not self._is_shown(found):
            raise self.exceptions.ExecutionDoesNotExist(request["executionArn"])
        return found

    @property
    def is_running(self) -> bool:
        """Return whether any execution runs."""
        return any(execution.status == "RUNNING" for execution in self.executions.values())

    def _is_shown(self, summary: Json) -> bool:
        return bool(summary["startDate"] + timedelta(seconds=self.lag_s) <= self._timeline.clock.now)

    def _enter(self, execution: FakeExecution) -> None:
        """Enter the next state."""
        if execution.status == "RUNNING":
            self._try(execution, self.task(execution), 0)

    def _try(self, execution: FakeExecution, payload: Json, retries: int) -> None:
        def fail(error: Exception) -> None:
            if retries == RETRIES:
                self.end(execution, "FAILED", type(error).__name__, str(error))
                return
            pause = min(FIRST_RETRY_S * 2**retries, LONGEST_RETRY_S) / 2
            self._timeline.after(pause, lambda: self._try(execution, payload, retries + 1))

        def go_on(result: Json) -> None:
            if execution.status != "RUNNING":
                return
            self.store(execution, result)
            if execution.status == "RUNNING":
                self._timeline.after(0 if result["done"] else WAIT_S, lambda: self._enter(execution))

        if execution.status == "RUNNING":
            self._run(Task(execution, payload, go_on, fail))


def _is_never_called(_: Json) -> Json:
    raise AssertionError("tasks go over the timeline")
