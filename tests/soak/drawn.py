"""What drawing a schedule needs for every stack: its operations, the stack's phase, and faults of a bounded length."""

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from tests.soak.schedule import CODES, Operation
from tests.soak.stack_run import Outcome, StackRun

ORDERS = ("StartExecution", "StopExecution", "ListExecutions", "DescribeExecution")
RESPONDER_FAULTS = 2
"""With three attempts and a fault in each, nobody is left to answer."""


class DrawnSchedule(RuleBasedStateMachine):
    """A schedule that is drawn while it runs."""

    finished: Callable[[list[Operation], Outcome], None]
    """Called with each schedule and its outcome."""

    under_way: StackRun[Any]

    def __init__(self) -> None:
        super().__init__()
        self.schedule: list[Operation] = []

    def teardown(self) -> None:
        """Wait until nothing runs, and check the outcome."""
        type(self).finished(self.schedule, self.under_way.finish())

    def do(self, op: str, **fields: Any) -> None:
        """Run an operation."""
        operation = {"op": op, **fields}
        self.schedule.append(operation)
        self.under_way.do(operation)

    @property
    def _phase(self) -> str:
        return str(self.under_way.world.cloudformation.phase)

    def is_idle(self) -> bool:
        return self._phase == "idle"

    def is_deploying(self) -> bool:
        return self._phase.endswith("deploy")

    def is_stuck(self) -> bool:
        return self._phase == "UPDATE_ROLLBACK_FAILED"

    def is_deployed(self) -> bool:
        return self.is_idle() and self.under_way.world.cloudformation.resource is not None

    @precondition(is_deploying)
    @rule()
    def cancel(self) -> None:
        self.do("cancel")

    @precondition(is_stuck)
    @rule(op=st.sampled_from(("continue", "skip", "destroy")))
    def leave_a_failed_rollback(self, op: str) -> None:
        self.do(op)

    def fault(self, function: str, call: str, kind: str, skip: int, seconds: float, *, code: str = "") -> None:
        """Let a function's call fail in this way."""
        coded = {"code": code or CODES[0]} if kind == "refuse" else {}
        bounded = min(seconds, 20 if kind in ("late", "lose") else 70)
        timed = {"seconds": bounded} if kind in ("late", "lose", "pause", "pause_after") else {}
        self.do("fault", function=function, call=call, kind=kind, skip=skip, **timed, **coded)

    def responder_faults(self) -> int:
        """Return the number of the responder's faults so far."""
        return sum(item.get("function") == "responder" for item in self.schedule)
