"""Run one schedule of a cluster to its end; the same schedule always has the same outcome."""

from collections.abc import Iterable
from typing import Any

from cluster_resource.event import Event, cluster_name
from tests.soak import invariants
from tests.soak.files import ADOPTED_NAME, FILES, FIXED_NAME
from tests.soak.schedule import Operation
from tests.soak.stack_run import LONGEST_S, QUIET_S, Outcome, StackRun
from tests.soak.world import SoakWorld
from tests.unit.cluster_resource.fake_sagemaker import FakeSageMaker
from tests.unit.cluster_resource.modes import SCRIPTS, in_mode
from tests.unit.cluster_resource.world import LOGICAL_ID, STACK, request

Json = dict[str, Any]
CREATION_S, UPDATE_S, DELETION_S = 120, 90, 60
ENOUGH = 9
"""More nodes than any file has in a group."""


class Run(StackRun[SoakWorld]):
    """A running schedule."""

    def __init__(self) -> None:
        super().__init__(SoakWorld())
        self.counts_are_open = False
        """Counts and groups were changed by hand, and are not compared."""
        self._service({"creation_s": CREATION_S, "update_s": UPDATE_S})
        self.world.sagemaker.deletion_s = DELETION_S

    def _finish(self) -> None:
        """Check at rest; then delete the stack, and check again."""
        world = self.world
        self._mend()
        self._settle({})
        self._let_the_service_end()
        world.timeline.pass_time(QUIET_S)
        invariants.check_rest(self)
        if world.cloudformation.phase in ("idle", "DELETE_FAILED", "UPDATE_ROLLBACK_FAILED"):
            self._destroy_to_the_end()
            invariants.check_gone(self)
        invariants.check_answers(world)

    @property
    def violations(self) -> list[str]:
        return [*self.world.violations, *self.world.sagemaker.foreign_changes]

    # The operations

    def _let_the_service_end(self) -> None:
        """Finish the service's work after an update of over an hour that timed out or was skipped."""
        for _ in range(0, LONGEST_S, 60):
            if not any(cluster.status in ("Creating", "Updating", "Deleting") for cluster in self.world.sagemaker.ours()):
                return
            self.world.timeline.pass_time(60)

    def _destroy_to_the_end(self) -> None:
        """Delete the stack; once more where the service was still updating the cluster when CloudFormation's hour was over.

        The service deletes no cluster until its update has ended; the answer says so, and the next deletion goes through.
        """
        stack = self.world.cloudformation
        for _ in range(2):
            self._destroy({})
            self._settle({})
            self.world.timeline.pass_time(QUIET_S)
            last = [str(answer.get("Reason")) for request in list(stack.requests.values())[-1:] for answer in request.answers]
            if not any("is still Updating after" in reason for reason in last):
                return

    def _outage(self, operation: Operation) -> None:
        sagemaker = self.world.sagemaker
        sagemaker.outage_until = sagemaker.clock.after(operation["seconds"])
        sagemaker.outage_code = operation.get("code", "ThrottlingException")

    def _stale(self, operation: Operation) -> None:
        self.world.sagemaker.stale_s = operation["seconds"]

    def _service(self, operation: Operation) -> None:
        sagemaker = self.world.sagemaker
        if "creation_fails" in operation:
            sagemaker.creation_fails = "no capacity: größer als möglich " * 300 if operation["creation_fails"] else ""
        if "update_fails" in operation:
            sagemaker.update_fails = "no capacity" if operation["update_fails"] else ""
        if "capacity" in operation:
            sagemaker.offer(operation["capacity"] if operation["capacity"] < ENOUGH else None)
        sagemaker.deletion_s = operation.get("deletion_s", sagemaker.deletion_s)
        sagemaker.creation_s = operation.get("creation_s", sagemaker.creation_s)
        sagemaker.update_s = operation.get("update_s", sagemaker.update_s)

    def _foreign(self, operation: Operation) -> None:
        """Create a cluster of another owner, with the fixed name, the generated one or that of files that adopt it."""
        sagemaker = self.world.sagemaker
        names = {"fixed": FIXED_NAME, "generated": generated_name("four"), "adopted": ADOPTED_NAME}
        name = names[operation["name"]]
        tags = [{"Key": "hyperpod-cdk:stack-id", "Value": "another"}, {"Key": "hyperpod-cdk:logical-id", "Value": LOGICAL_ID}]
        if sagemaker.find(name) is None:
            tagged = {"Tags": tags} if operation["tags"] == "other" else {}
            wanted = in_mode(request(), operation.get("mode", SCRIPTS))
            FakeSageMaker.create_cluster(sagemaker, ClusterName=name, **wanted, **tagged)

    def _hand(self, operation: Operation) -> None:
        """Change the cluster by hand."""
        what = operation["what"]
        clusters = self.world.sagemaker.ours(and_going=False)
        self.world.changed_by_hand = True
        for cluster in clusters[:1] if what == "delete" else ():
            self.world.deleted_by_hand = True
            cluster.go()
        for cluster in [item for item in clusters if item.status == "InService"][:1] if what != "delete" else ():
            self.counts_are_open = True
            name = "by-hand" if what == "group" else "workers"
            cluster.groups[name] = {**cluster.groups["workers"], "InstanceGroupName": name, "InstanceCount": 2}
            cluster.running[name] = 2

    def _node_fails(self, _: Operation) -> None:
        """Let a worker of the idle cluster fail; it comes back with the next capacity or update."""
        clusters = self.world.sagemaker.ours(and_going=False) if self.world.is_at_rest else []
        for cluster in [item for item in clusters if item.status == "InService"][:1]:
            cluster.running["workers"] = max(0, cluster.running.get("workers", 0) - 1)

    def _skip(self, operation: Operation) -> None:
        self.counts_are_open = True
        super()._skip(operation)

    def _mend(self) -> None:
        super()._mend()
        self.world.sagemaker.stale_s = 0
        self.world.sagemaker.outage_until = self.world.clock.now
        self._service({"creation_fails": False, "update_fails": False, "creation_s": CREATION_S, "update_s": UPDATE_S})
        self._service({"deletion_s": DELETION_S, "capacity": ENOUGH})


def run(schedule: Iterable[Operation]) -> Outcome:
    """Run a schedule."""
    under_way = Run()
    for operation in schedule:
        under_way.do(operation)
    return under_way.finish()


def generated_name(file: str) -> str:
    """Return the cluster's name for a file."""
    raw = {"RequestType": "Create", "RequestId": "", "StackId": STACK, "LogicalResourceId": LOGICAL_ID, "ResponseURL": ""}
    return cluster_name(Event.parse(raw), FILES[file])
