"""Draw schedules with Hypothesis, one possible operation after the other; run.py runs them."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from tests.soak.drawn import ORDERS, RESPONDER_FAULTS, DrawnSchedule
from tests.soak.faults import KINDS
from tests.soak.files import SCRIPTS_FILES, TWIN
from tests.soak.run import ENOUGH, Run
from tests.soak.schedule import CALLS, CODES
from tests.unit.cluster_resource.modes import API, MODES, SCRIPTS

STEPS = 14
"""Operations in a schedule, at most."""

CHANGES = ("CreateCluster", "UpdateCluster", "DeleteCluster")
FILE_NAMES = st.sampled_from(("four", "six", "login", "moved", "four", "six", "moved", *SCRIPTS_FILES))
SHORT = st.sampled_from((0, 1, 5, 29, 31, 35, 50, 60, 90))
LONG = st.sampled_from((120, 180, 300, 1200, 3700))
HANGS = (0, 5, 20, 50, 60, 70)
DESTINATIONS = st.lists(st.sampled_from((0, 1, 10, 60, 250, 600)), min_size=1, max_size=3)


class Drawing(DrawnSchedule):
    """A schedule of a cluster, drawn while it runs."""

    under_way: Run

    def __init__(self) -> None:
        super().__init__()
        self.under_way = Run()
        self.mode = SCRIPTS

    @initialize(mode=st.sampled_from(MODES))
    def choose_a_mode(self, mode: str) -> None:
        self.mode = mode

    def do(self, op: str, **fields: Any) -> None:
        """Run an operation; a file is that of the schedule's mode."""
        if op == "deploy" and self.mode == API and not fields["file"].startswith(TWIN):
            fields["file"] = TWIN + fields["file"]
        super().do(op, **fields)

    def is_deletable(self) -> bool:
        return self._phase == "DELETE_FAILED" or self.is_deployed()

    @precondition(DrawnSchedule.is_idle)
    @rule(file=FILE_NAMES, then=st.sampled_from(("", "", "", "rollback")))
    def deploy(self, file: str, then: str) -> None:
        self.do("deploy", file=file, then=then)

    @precondition(DrawnSchedule.is_idle)
    @rule(file=FILE_NAMES, seconds=SHORT)
    def deploy_and_cancel(self, file: str, seconds: float) -> None:
        self.do("deploy", file=file)
        self.do("wait", seconds=seconds)
        self.do("cancel")

    @precondition(DrawnSchedule.is_idle)
    @rule(file=FILE_NAMES, kind=st.sampled_from(("die", "die_after", "late")), skip=st.integers(0, 12))
    def deploy_with_a_crash_anywhere(self, file: str, kind: str, skip: int) -> None:
        self.fault("step", "*", kind, skip, 20)
        self.do("deploy", file=file)

    @precondition(DrawnSchedule.is_deploying)
    @rule(kind=st.sampled_from(("die", "die_after", "late", "pause")), skip=st.integers(0, 5), seconds=st.sampled_from((20, 70)))
    def crash_at_the_next_call(self, kind: str, skip: int, seconds: float) -> None:
        self.fault("step", "*", kind, skip, seconds)

    @precondition(DrawnSchedule.is_idle)
    @rule(
        file=FILE_NAMES,
        call=st.sampled_from((*ORDERS, *ORDERS[:1], "Return")),
        kind=st.sampled_from(("die", "die_after", "late", "late", "lose", "pause", "pause_after")),
        skip=st.sampled_from((0, 0, 1)),
        seconds=st.sampled_from((5, 20, 50)),
        delay=st.sampled_from((0, 10, 55)),
        cancelled=st.sampled_from((0, 5, 31, 50, 90, 150)),
    )
    def deploy_and_overtake(
        self, *, file: str, call: str, kind: str, skip: int, seconds: float, delay: float, cancelled: float
    ) -> None:
        self.do("deliver", delays=[delay])
        self.fault("entry", call, kind, skip, seconds)
        self.do("deploy", file=file)
        self.do("wait", seconds=cancelled)
        self.do("cancel")

    @precondition(is_deletable)
    @rule(
        file=FILE_NAMES,
        kind=st.sampled_from(("late", "pause")),
        cancelled=st.sampled_from((0, 5, 31)),
        lag=st.sampled_from((0, 30)),
    )
    def update_and_roll_back_before_it_starts(self, file: str, kind: str, cancelled: float, lag: float) -> None:
        if self.is_idle():
            if lag:
                self.do("lag", seconds=lag)
            self.fault("entry", "StartExecution", kind, 0, 20)
            self.do("deploy", file=file)
            self.do("wait", seconds=cancelled)
            self.do("cancel")

    @precondition(DrawnSchedule.is_idle)
    @rule(file=FILE_NAMES, code=st.sampled_from(CODES[:2]), seconds=st.sampled_from((400, 600)))
    def deploy_and_cancel_in_an_outage(self, file: str, code: str, seconds: float) -> None:
        self.do("outage", seconds=seconds, code=code)
        self.do("deploy", file=file)
        self.do("wait", seconds=60)
        self.do("cancel")

    @precondition(DrawnSchedule.is_idle)
    @rule(seconds=st.sampled_from((0, 60, 119, 125, 200)), file=FILE_NAMES)
    def deploy_and_delete_by_hand(self, file: str, seconds: float) -> None:
        self.do("deploy", file=file)
        self.do("wait", seconds=seconds)
        self.do("hand", what="delete")

    @precondition(DrawnSchedule.is_idle)
    @rule(tags=st.sampled_from(("other", "none")), name=st.sampled_from(("fixed", "generated")))
    def deploy_beside_a_foreign_cluster(self, tags: str, name: str) -> None:
        self.do("foreign", name=name, tags=tags)
        self.do("wait", seconds=200)
        self.do("deploy", file="named" if name == "fixed" else "six")

    @precondition(DrawnSchedule.is_idle)
    @rule(file=FILE_NAMES)
    def deploy_to_the_end(self, file: str) -> None:
        self.do("deploy", file=file)
        self.do("settle")

    @precondition(is_deletable)
    @rule(file=FILE_NAMES)
    def deploy_what_the_service_takes_back(self, file: str) -> None:
        if not self.is_idle():
            return
        self.do("service", update_fails=True)
        self.do("deploy", file=file)
        self.do("settle")
        self.do("service", update_fails=False)

    @precondition(DrawnSchedule.is_idle)
    @rule(file=FILE_NAMES, is_refused=st.booleans())
    def deploy_what_the_service_cannot_create(self, file: str, is_refused: bool) -> None:
        if is_refused:
            self.fault("step", "PUT", "refuse", 0, 0)
        self.do("service", creation_fails=True)
        self.do("deploy", file=file)
        self.do("settle")
        self.do("service", creation_fails=False)

    @precondition(is_deletable)
    @rule()
    def destroy(self) -> None:
        self.do("destroy")

    @rule(seconds=LONG)
    def wait_long(self, seconds: float) -> None:
        self.do("wait", seconds=seconds)

    @rule(seconds=SHORT)
    def wait(self, seconds: float) -> None:
        self.do("wait", seconds=seconds)

    @rule(
        call=st.sampled_from((*CHANGES, *CHANGES, *CALLS)),
        kind=st.sampled_from(("die", "die_after", "late")),
        skip=st.integers(0, 3),
        seconds=st.sampled_from((0, 5, 20)),
    )
    def crash_a_step(self, call: str, kind: str, skip: int, seconds: float) -> None:
        self.fault("step", call, kind, 0 if call in CHANGES else skip, seconds)

    @precondition(DrawnSchedule.is_idle)
    @rule(
        file=FILE_NAMES,
        call=st.sampled_from((*CHANGES, "PUT", "Return", "DescribeCluster")),
        kind=st.sampled_from(("die", "die_after", "late", "refuse")),
        seconds=st.sampled_from((0, 5, 20)),
    )
    def deploy_with_a_crash(self, file: str, call: str, kind: str, seconds: float) -> None:
        self.fault("step", call, kind, 0, seconds)
        self.do("deploy", file=file)

    @precondition(DrawnSchedule.is_idle)
    @rule(
        file=FILE_NAMES,
        seconds=st.sampled_from((45, 55)),
        cancelled=st.sampled_from((5, 31, 35)),
        lag=st.sampled_from((0, 30)),
    )
    def deploy_and_cancel_while_its_call_hangs(self, file: str, seconds: float, cancelled: float, lag: float) -> None:
        """Let the call take effect after the first step of the next request, which may not see this one listed yet."""
        if lag:
            self.do("lag", seconds=lag)
        self.fault("step", "UpdateCluster" if self.is_deletable() else "CreateCluster", "pause", 0, seconds)
        self.do("deploy", file=file)
        self.do("wait", seconds=cancelled)
        self.do("cancel")

    @rule(
        call=st.sampled_from((*CHANGES, *CHANGES, *CALLS)),
        kind=st.sampled_from(("lose", "retry", "refuse", "pause", "pause_after")),
        skip=st.integers(0, 3),
        seconds=st.sampled_from((0, 5, 20, 50, 70)),
        code=st.sampled_from(CODES),
    )
    def disturb_a_step(self, call: str, kind: str, skip: int, seconds: float, code: str) -> None:
        self.fault("step", call, kind, 0 if call in CHANGES else skip, seconds, code=code)

    @rule(
        call=st.sampled_from((*ORDERS, "GetExecutionHistory", "*", "Return")),
        kind=st.sampled_from(KINDS),
        skip=st.sampled_from((0, 0, 1, 2, 5, 12)),
        seconds=st.sampled_from(HANGS),
        code=st.sampled_from(CODES),
    )
    def disturb_the_entry(self, *, call: str, kind: str, skip: int, seconds: float, code: str) -> None:
        self.fault("entry", call, kind, skip, seconds, code=code)

    @rule(
        call=st.sampled_from((*ORDERS, "GetExecutionHistory", "PUT", "Return", "*")),
        kind=st.sampled_from(KINDS),
        skip=st.sampled_from((0, 0, 0, 1, 2)),
        seconds=st.sampled_from(HANGS),
        code=st.sampled_from(CODES),
    )
    def disturb_the_responder(self, *, call: str, kind: str, skip: int, seconds: float, code: str) -> None:
        if self.responder_faults() < RESPONDER_FAULTS:
            self.fault("responder", call, kind, skip, seconds, code=code)

    @precondition(DrawnSchedule.is_idle)
    @rule(
        file=FILE_NAMES,
        pause=st.sampled_from((0, 20, 50, 50)),
        late=st.sampled_from(((1, 2), (250, 0), (600, 0), (60, 1))),
        outage=st.sampled_from((0, 235, 235, 300)),
        refusals=st.sampled_from((0, 0, 6, 8)),
    )
    def deploy_unseen_and_cancel(self, file: str, pause: float, late: tuple[float, int], outage: float, refusals: int) -> None:
        """Start an execution whose entry dies before it looks, so that it runs for minutes."""
        delay, hangs = late
        if self.responder_faults() + hangs > RESPONDER_FAULTS:
            return
        if outage:
            self.do("outage", seconds=outage, code=CODES[0])
        if pause:
            self.fault("entry", "ListExecutions", "pause_after", 0, pause)
        self.fault("entry", "StartExecution", "late", 1 if pause else 0, 20)
        self.do("destination", delays=[delay])
        for _ in range(hangs):
            self.fault("responder", "StartExecution", "pause", 0, 60)
        for _ in range(refusals):
            self.fault("step", "UpdateCluster" if self.is_deletable() else "CreateCluster", "refuse", 0, 0)
        self.do("deploy", file=file)
        self.do("wait", seconds=1)
        self.do("cancel")

    @rule(delays=DESTINATIONS)
    def destination(self, delays: list[float]) -> None:
        self.do("destination", delays=delays)

    @rule(op=st.sampled_from(("stale", "lag", "outage", "release", "foreign", "hand", "service")), data=st.data())
    def change_the_surroundings(self, op: str, data: st.DataObject) -> None:
        self.do(op, **data.draw(SURROUNDINGS[op]))


SURROUNDINGS: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    "stale": st.fixed_dictionaries({"seconds": st.sampled_from((0, 5, 20))}),
    "lag": st.fixed_dictionaries({"seconds": st.sampled_from((0, 1, 5, 12, 30))}),
    "outage": st.fixed_dictionaries({"seconds": st.sampled_from((20, 100, 400, 3900)), "code": st.sampled_from(CODES[:2])}),
    "release": st.fixed_dictionaries({"newer": st.booleans()}),
    "foreign": st.fixed_dictionaries(
        {
            "name": st.sampled_from(("fixed", "generated", "adopted")),
            "tags": st.sampled_from(("other", "none")),
            "mode": st.sampled_from(MODES),
        }
    ),
    "hand": st.fixed_dictionaries({"what": st.sampled_from(("scale", "group", "delete"))}),
    "service": st.fixed_dictionaries(
        {},
        optional={
            "creation_fails": st.booleans(),
            "update_fails": st.booleans(),
            "creation_s": st.sampled_from((60, 120, 600, 3900)),
            "update_s": st.sampled_from((30, 90, 3900)),
            "deletion_s": st.sampled_from((60, 600, 4000)),
            "capacity": st.sampled_from((0, 2, 4, ENOUGH)),
        },
    ),
}
