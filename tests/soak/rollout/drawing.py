"""Draw schedules of a rollout with Hypothesis, one possible operation after the other; run.py runs them."""

from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, Phase, settings
from hypothesis import seed as seeded
from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule, run_state_machine_as_test

from tests.soak.drawn import ORDERS, RESPONDER_FAULTS, DrawnSchedule
from tests.soak.faults import KINDS
from tests.soak.rollout.account import HOSTILE
from tests.soak.rollout.run import RolloutRun
from tests.soak.rollout.schedule import CALLS, VERSIONS
from tests.soak.rollout.stack import FILES, version_of
from tests.soak.schedule import CODES, Operation
from tests.soak.stack_run import Outcome

STEPS = 9
"""Operations in a schedule, at most."""

FILE_NAMES = st.sampled_from(tuple(FILES))
OTHERS = dict(zip(FILES, [*list(FILES)[1:], *FILES][: len(FILES)], strict=True))
NODES = st.integers(0, 6)
SHORT = st.sampled_from((0, 5, 31, 60, 75, 120, 200, 300))
STEP_CALLS = ("PutParameter", "PutParameter", "GetParameter", "FilterLogEvents", "ListClusterNodes", "Return")
CRASHES = ("die", "die_after", "late")
DELIVERIES = st.sampled_from(([0], [0, 1], [0, 40], [1, 0, 90], [40, 90]))


class RolloutDrawing(DrawnSchedule):
    """A schedule of a rollout, drawn while it runs."""

    under_way: RolloutRun

    def __init__(self) -> None:
        super().__init__()
        self.under_way = RolloutRun()

    @initialize(
        file=FILE_NAMES,
        other=FILE_NAMES,
        delays=DELIVERIES,
        kind=st.sampled_from((*CRASHES, "retry")),
        skip=st.integers(0, 12),
        bad=st.sampled_from((*range(6), *(6 * [-1]))),
    )
    def create_and_update(self, *, file: str, other: str, delays: list[float], kind: str, skip: int, bad: int) -> None:
        self.do("deploy", file=file)
        self.do("settle")
        if bad >= 0:
            self.do("node_does", node=bad, what="break", version=version_of(self._other(other)))
        self.do("deliver", delays=delays)
        self.fault("step", "*", kind, skip, 20)
        self.do("deploy", file=other)
        if bad >= 0:
            self.do("settle")

    def do(self, op: str, **fields: Any) -> None:
        """Run an operation."""
        if op == "deploy":
            fields["file"] = self._other(fields["file"])
        super().do(op, **fields)

    def _other(self, file: str) -> str:
        """Return the file, or another one if it is deployed."""
        resource = self.under_way.world.cloudformation.resource
        return OTHERS[file] if resource and resource.file == file else file

    @precondition(DrawnSchedule.is_idle)
    @rule(
        file=FILE_NAMES,
        then=st.sampled_from(("", "", "rollback")),
        delays=DELIVERIES,
        kind=st.sampled_from((*CRASHES, "pause_after")),
        skip=st.integers(0, 12),
    )
    def deploy_to_the_end(self, *, file: str, then: str, delays: list[float], kind: str, skip: int) -> None:
        self.do("deliver", delays=delays)
        self.fault("step", "*", kind, skip, 20)
        self.do("deploy", file=file, then=then)
        self.do("settle")

    @precondition(DrawnSchedule.is_deployed)
    @rule(
        file=FILE_NAMES,
        call=st.sampled_from((*CALLS, *STEP_CALLS)),
        kind=st.sampled_from((*KINDS, *CRASHES)),
        skip=st.integers(0, 12),
        seconds=SHORT,
    )
    def deploy_with_a_fault(self, *, file: str, call: str, kind: str, skip: int, seconds: float) -> None:
        self.fault("step", call, kind, skip if call in ("*", "FilterLogEvents") else skip % 3, seconds)
        self.do("deploy", file=file)

    @precondition(DrawnSchedule.is_deployed)
    @rule(
        file=FILE_NAMES,
        node=NODES,
        what=st.sampled_from(("break", "break", "silence", "slow", "leave", "replace")),
        before=st.sampled_from((0, 0, 0, 75, 120)),
        settles=st.sampled_from((True, True, False)),
    )
    def deploy_with_a_bad_node(self, *, file: str, node: int, what: str, before: float, settles: bool) -> None:
        bad = {"node": node, "what": what, "version": version_of(self._other(file))}
        if not before:
            self.do("node_does", **bad)
        self.do("deploy", file=file)
        if before:
            self.do("wait", seconds=before)
            self.do("node_does", **bad)
        if settles:
            self.do("settle")

    @precondition(DrawnSchedule.is_deployed)
    @rule(
        file=FILE_NAMES,
        node=NODES,
        back=st.booleans(),
        call=st.sampled_from((*CALLS, *STEP_CALLS)),
        kind=st.sampled_from((*KINDS, *CRASHES)),
        skip=st.integers(0, 12),
        again=st.booleans(),
    )
    def roll_back_with_a_fault(self, *, file: str, node: int, back: bool, call: str, kind: str, skip: int, again: bool) -> None:
        """Let a node fail the scripts, perhaps also those before; then deploy them again."""
        resource = self.under_way.world.cloudformation.resource
        before, after = version_of(resource.file) if resource else "a", version_of(self._other(file))
        self.do("node_does", node=node, what="break", version=after)
        if back:
            self.do("node_does", node=node, what="break", version=before)
        self.fault("step", call, kind, skip if call in ("*", "FilterLogEvents") else skip % 5, 20)
        self.do("deploy", file=file)
        self.do("settle")
        if again and self.is_idle():
            self.do("deploy", file=file)
            self.do("settle")

    @precondition(DrawnSchedule.is_deployed)
    @rule(
        file=FILE_NAMES,
        call=st.sampled_from(("PutParameter", "PutParameter", "GetParameter", "FilterLogEvents", "ListExecutions", "Return")),
        kind=st.sampled_from(("pause", "pause_after", "late", "lose", "die_after")),
        skip=st.sampled_from((0, 0, 1, 2)),
        seconds=st.sampled_from((20, 50, 55)),
        cancelled=st.sampled_from((31, 35, 65, 95, 130)),
    )
    def deploy_and_cancel_while_a_call_hangs(
        self, *, file: str, call: str, kind: str, skip: int, seconds: float, cancelled: float
    ) -> None:
        self.fault("step", call, kind, skip, seconds)
        self.do("deploy", file=file)
        self.do("wait", seconds=cancelled)
        self.do("cancel")

    @precondition(DrawnSchedule.is_deployed)
    @rule(
        file=FILE_NAMES,
        call=st.sampled_from((*ORDERS, *ORDERS[:1], "Return")),
        kind=st.sampled_from(("die", "die_after", "late", "late", "lose", "pause", "pause_after")),
        delay=st.sampled_from((0, 10, 55)),
        cancelled=st.sampled_from((0, 5, 31, 50, 90)),
    )
    def deploy_and_overtake(self, *, file: str, call: str, kind: str, delay: float, cancelled: float) -> None:
        self.do("deliver", delays=[delay])
        self.fault("entry", call, kind, 0, 20)
        self.do("deploy", file=file)
        self.do("wait", seconds=cancelled)
        self.do("cancel")

    @precondition(DrawnSchedule.is_deployed)
    @rule(file=FILE_NAMES, seconds=SHORT, delays=DELIVERIES)
    def deploy_twice_delivered_and_cancel(self, file: str, seconds: float, delays: list[float]) -> None:
        self.do("deliver", delays=delays)
        self.do("deploy", file=file)
        self.do("wait", seconds=seconds)
        self.do("cancel")

    @precondition(DrawnSchedule.is_deployed)
    @rule(file=FILE_NAMES, seconds=st.sampled_from((0, 40, 100, 400)))
    def turn_following_off_and_on(self, file: str, seconds: float) -> None:
        self.do("destroy")
        self.do("settle")
        self.do("wait", seconds=seconds)
        self.do("deploy", file=file)

    @precondition(DrawnSchedule.is_deployed)
    @rule()
    def destroy(self) -> None:
        self.do("destroy")

    @rule(seconds=SHORT)
    def wait(self, seconds: float) -> None:
        self.do("wait", seconds=seconds)

    @rule(
        call=st.sampled_from(CALLS),
        kind=st.sampled_from((*KINDS, *CRASHES)),
        skip=st.sampled_from((0, 0, 0, 1, 4)),
        seconds=SHORT,
        code=st.sampled_from(CODES),
    )
    def disturb_a_step(self, *, call: str, kind: str, skip: int, seconds: float, code: str) -> None:
        self.fault("step", call, kind, skip, seconds, code=code)

    @rule(
        function=st.sampled_from(("entry", "responder")),
        call=st.sampled_from((*ORDERS, "GetExecutionHistory", "PUT", "Return", "*")),
        kind=st.sampled_from(KINDS),
        skip=st.sampled_from((0, 0, 1, 2)),
        seconds=SHORT,
        code=st.sampled_from(CODES),
    )
    def disturb_another_function(self, *, function: str, call: str, kind: str, skip: int, seconds: float, code: str) -> None:
        if function == "entry" or self.responder_faults() < RESPONDER_FAULTS:
            self.fault(function, call, kind, skip, seconds, code=code)

    @rule(node=NODES, what=st.sampled_from(("break", "silence", "heal", "leave", "replace")), version=st.sampled_from(VERSIONS))
    def change_a_node(self, node: int, what: str, version: str) -> None:
        self.do("node_does", node=node, what=what, version=version)

    @rule(node=NODES, what=st.sampled_from(tuple(HOSTILE)), version=st.sampled_from(VERSIONS))
    def write_a_hostile_record(self, node: int, what: str, version: str) -> None:
        self.do("record", node=node, what=what, version=version)

    @rule(op=st.sampled_from(("late", "lag", "outage", "hand", "destination", "release")), data=st.data())
    def change_the_surroundings(self, op: str, data: st.DataObject) -> None:
        self.do(op, **data.draw(SURROUNDINGS[op]))


SURROUNDINGS: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    "late": st.fixed_dictionaries({"seconds": st.sampled_from((0, 5, 20))}),
    "lag": st.fixed_dictionaries({"seconds": st.sampled_from((0, 5, 30))}),
    "outage": st.fixed_dictionaries({"seconds": st.sampled_from((20, 100, 400, 3900)), "code": st.sampled_from(CODES[:2])}),
    "hand": st.fixed_dictionaries({"what": st.sampled_from(("delete", "malformed", "older"))}),
    "destination": st.fixed_dictionaries({"delays": st.lists(st.sampled_from((0, 10, 60, 250)), min_size=1, max_size=2)}),
    "release": st.fixed_dictionaries({"newer": st.booleans()}),
}


def draw(examples: int, seed: int, finished: Callable[[list[Operation], Outcome], None]) -> None:
    """Draw and run schedules, the same for each seed, and call ``finished`` with each."""
    machine = type("RolloutDrawing", (RolloutDrawing,), {"finished": staticmethod(finished)})
    chosen = settings(
        max_examples=examples,
        stateful_step_count=STEPS,
        deadline=None,
        database=None,
        phases=(Phase.generate,),  # smallest.py reduces what fails
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(seeded(seed)(machine), settings=chosen)
