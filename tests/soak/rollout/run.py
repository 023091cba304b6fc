"""Run one schedule of a rollout to its end; the same schedule always has the same outcome."""

from collections.abc import Iterable

from cluster_resource.pointer import FULL, Bundle, Pointer
from tests.soak.invariants import check_answers
from tests.soak.rollout import invariants
from tests.soak.rollout.nodes import AgentNode
from tests.soak.rollout.stack import version_of
from tests.soak.rollout.world import RolloutWorld
from tests.soak.schedule import Operation
from tests.soak.stack_run import Outcome, StackRun
from tests.unit.cluster_resource.rollout_world import sha256_of

LAST = "c"
"""The scripts that each schedule deploys at its end."""

GROUPS = ("controller", "controller", "login", "workers", "workers", "workers")
LONGEST_RETRY_S = 3600


class RolloutRun(StackRun[RolloutWorld]):
    """A running schedule."""

    def __init__(self) -> None:
        super().__init__(RolloutWorld())

    def _finish(self) -> None:
        """Let the stack come to rest; then deploy to healthy nodes, and delete the stack."""
        stack = self.world.cloudformation
        self._mend()
        self._settle({})
        for _ in range(2):
            if stack.phase == "UPDATE_ROLLBACK_FAILED":
                self._continue({})
                self._settle({})
            if stack.phase == "DELETE_FAILED":
                self._destroy({})
                self._settle({})
        invariants.check_rest(self)
        if stack.phase == "idle":
            self._converge()
        check_answers(self.world)

    def _converge(self) -> None:
        stack = self.world.cloudformation
        self.world.timeline.pass_time(LONGEST_RETRY_S if self.world.has_trouble else 0)
        if stack.resource is None or version_of(stack.resource.file) != LAST:
            self._deploy({"file": LAST})
            self._settle({})
            self.world.timeline.pass_time(120)  # a Create waits for no node that runs its scripts
            invariants.check_converged(self, LAST)
        self._destroy({})
        self._settle({})
        invariants.check_gone(self)

    # The operations

    def _deploy(self, operation: Operation) -> None:
        stack, account = self.world.cloudformation, self.world.account
        if stack.phase == "idle" and stack.resource is None:
            account.set_log_group(exists=True)
        if not account.nodes.living:
            for group in GROUPS:
                account.nodes.join(group, sha256_of(version_of(operation["file"])))
            self.world.timeline.pass_time(1)
        super()._deploy(operation)

    def _outage(self, operation: Operation) -> None:
        self.world.account.outage_until = self.world.clock.after(operation["seconds"])
        self.world.account.outage_code = operation.get("code", "ThrottlingException")

    def _late(self, operation: Operation) -> None:
        self.world.account.late_s = operation["seconds"]

    def _hand(self, operation: Operation) -> None:
        """Change the parameter outside CloudFormation."""
        account, what = self.world.account, operation["what"]
        if account.value is None:
            return
        older = Pointer(1, Bundle("sagemaker-reference", "lifecycle/old/fs-1", sha256_of("a")), FULL).text
        self.world.has_trouble = True
        account.change_by_hand({"delete": None, "malformed": '{"version": 9}', "older": older}[what])

    def _record(self, operation: Operation) -> None:
        """Write a record that no agent writes."""
        node = self._node(operation["node"])
        if node and self.world.account.has_log_group:
            self.world.account.add_hostile(operation["what"], node.instance, sha256_of(operation["version"]))

    def _node_does(self, operation: Operation) -> None:
        """Change one node."""
        node = self._node(operation["node"])
        if node is None:
            return
        what = operation["what"]
        self.world.has_trouble |= what in ("break", "silence", "slow")
        if what == "break":
            node.broken.add(sha256_of(operation["version"]))
        elif what == "silence":
            node.is_silent = True
        elif what == "slow":
            node.apply_s = 400
        elif what == "heal":
            self._heal(node)
        else:
            node.is_gone = True
            if what == "replace":
                self._join(node.group)

    def _join(self, group: str) -> None:
        """Start a node, with the scripts that the cluster has for new ones."""
        stack = self.world.cloudformation
        file = stack.current.file if stack.current else stack.resource.file if stack.resource else "a"
        self.world.account.nodes.join(group, sha256_of(version_of(file)))

    def _node(self, index: int) -> AgentNode | None:
        living = self.world.account.nodes.living
        return living[index % len(living)] if living else None

    def _heal(self, node: AgentNode) -> None:
        if node.is_silent:
            node.healthy_since = self.world.clock.now
        node.is_silent, node.apply_s = False, 5
        node.broken.clear()

    def _mend(self) -> None:
        super()._mend()
        account = self.world.account
        account.outage_until, account.late_s = self.world.clock.now, 0
        for node in account.nodes.living:
            self._heal(node)


def run(schedule: Iterable[Operation]) -> Outcome:
    """Run a schedule."""
    under_way = RolloutRun()
    for operation in schedule:
        under_way.do(operation)
    return under_way.finish()
