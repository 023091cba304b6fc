"""Draw schedules of both setups of Slurm, with adoption, missing capacity, failed clean-ups, and requests of over an hour."""

from collections.abc import Callable

from hypothesis import HealthCheck, Phase, settings
from hypothesis import seed as seeded
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule, run_state_machine_as_test

from tests.soak.drawing import STEPS, Drawing
from tests.soak.files import wanted
from tests.soak.run import ENOUGH
from tests.soak.schedule import CODES, Operation
from tests.soak.stack_run import Outcome
from tests.unit.cluster_resource.modes import API, SCRIPTS


class LongPaths(Drawing):
    """A schedule that also adopts clusters, lacks capacity, fails in the clean-up, or takes more than an hour."""

    @precondition(Drawing.is_idle)
    @rule(
        file=st.sampled_from(("adopted", "adopted-six", "adopted-two", "given")),
        tags=st.sampled_from(("none", "none", "other")),
        mode=st.sampled_from(("", API, SCRIPTS)),
        then=st.sampled_from(("", "", "rollback")),
    )
    def adopt(self, file: str, tags: str, mode: str, then: str) -> None:
        self.do("foreign", name="adopted", tags=tags, mode=mode or self.mode)
        self.do("wait", seconds=200)
        self.do("deploy", file=file, then=then)

    @precondition(Drawing.is_deletable)
    @rule(file=st.sampled_from(("adopted-six", "given", "four", "moved", "named")))
    def change_an_adopted_cluster(self, file: str) -> None:
        resource = self.under_way.world.cloudformation.resource
        if self.is_idle() and resource and wanted(resource.file).adopts:
            self.do("deploy", file=file)

    @precondition(Drawing.is_deletable)
    @rule(file=st.sampled_from(("four", "six", "recovery", "tagged")))
    def deploy_in_the_other_mode(self, file: str) -> None:
        if self.is_idle():
            mode, self.mode = self.mode, SCRIPTS if self.mode == API else API
            self.do("deploy", file=file)
            self.mode = mode

    @precondition(Drawing.is_idle)
    @rule(
        file=st.sampled_from(("six", "least", "hours-six", "login")),
        capacity=st.sampled_from((0, 2, 4)),
        seconds=st.sampled_from((60, 300, 1200, 3700)),
        back=st.booleans(),
    )
    def deploy_without_capacity(self, file: str, capacity: int, seconds: float, back: bool) -> None:
        self.do("service", capacity=capacity)
        self.do("deploy", file=file)
        self.do("wait", seconds=seconds)
        if back:
            self.do("service", capacity=ENOUGH)

    @precondition(Drawing.is_idle)
    @rule(
        deployed=st.sampled_from(("", "hours")),
        file=st.sampled_from(("hours", "hours-six")),
        fails=st.booleans(),
        call=st.sampled_from(("*", "DescribeCluster", "ListClusterNodes", "PUT", "Return")),
        kind=st.sampled_from(("die", "die_after", "refuse", "pause")),
        cancelled=st.sampled_from((0, 0, 3600, 5000)),
    )
    def deploy_for_more_than_an_hour(
        self, *, deployed: str, file: str, fails: bool, call: str, kind: str, cancelled: float
    ) -> None:
        if deployed:
            self.do("deploy", file=deployed)
            self.do("settle")
            if not self.is_idle():
                return
        self.do("service", creation_s=3900, update_s=3900, creation_fails=fails, update_fails=fails)
        self.do("deploy", file=file)
        self.do("wait", seconds=3500)
        self.fault("step", call, kind, 0, 20)
        if cancelled:
            self.do("wait", seconds=cancelled - 3500)
            self.do("cancel")
        self.do("settle")
        self.do("service", creation_s=120, update_s=90, creation_fails=False, update_fails=False)

    @precondition(Drawing.is_idle)
    @rule(kind=st.sampled_from(("die_after", "late", "lose")), seconds=st.sampled_from((0, 5, 20)))
    def enlarge_with_a_crash(self, kind: str, seconds: float) -> None:
        self.do("deploy", file="four")
        self.do("settle")
        if self.is_idle():
            self.fault("step", "UpdateCluster", kind, 0, seconds)
            self.do("deploy", file="six")

    @precondition(Drawing.is_idle)
    @rule(file=st.sampled_from(("retyped", "empty", "login", "recovery")), capacity=st.sampled_from((2, ENOUGH)))
    def roll_back_with_a_failed_node(self, file: str, capacity: int) -> None:
        self.do("deploy", file="six")
        self.do("settle")
        if self.is_idle():
            self.do("node_fails")
            self.do("service", capacity=capacity)
            self.do("deploy", file=file, then="rollback")
            self.do("settle")
            self.do("service", capacity=ENOUGH)

    @precondition(Drawing.is_idle)
    @rule(
        call=st.sampled_from(("*", "ListClusters", "ListTags", "PUT", "Return")),
        kind=st.sampled_from(("die", "die_after", "refuse", "pause")),
        outage=st.sampled_from((0, 400)),
    )
    def destroy_for_more_than_an_hour(self, call: str, kind: str, outage: float) -> None:
        self.do("deploy", file="hours")
        self.do("settle")
        self.do("service", deletion_s=4000)
        self.do("destroy")
        self.do("wait", seconds=3500)
        self.fault("step", call, kind, 0, 20)
        if outage:
            self.do("outage", seconds=outage, code=CODES[0])
        self.do("settle")
        self.do("service", deletion_s=60)

    @precondition(Drawing.is_idle)
    @rule(
        file=st.sampled_from(("moved", "named", "named-moved", "hours")),
        failures=st.sampled_from((1, 2, 3, 3)),
        following=st.sampled_from(("", "four", "six", "never")),
    )
    def fail_in_the_clean_up(self, file: str, failures: int, following: str) -> None:
        """Lose the Delete of a replaced cluster, in some or all attempts: it is too old when it arrives."""
        self.do("deploy", file="four")
        self.do("settle")
        if not self.is_idle():
            return
        self.do("deploy", file=file)
        for _ in range(failures):
            self.do("deliver", delays=[70])
        self.do("settle")
        if following and self.is_idle():
            self.do("deploy", file=following)


def draw(examples: int, seed: int, finished: Callable[[list[Operation], Outcome], None]) -> None:
    """Draw and run schedules, the same for each seed, and call ``finished`` with each."""
    machine = type("Drawing", (LongPaths,), {"finished": staticmethod(finished)})
    chosen = settings(
        max_examples=examples,
        stateful_step_count=STEPS,
        deadline=None,
        database=None,
        # What fails is made smaller in smallest.py, which knows what a schedule is.
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(seeded(seed)(machine), settings=chosen)
