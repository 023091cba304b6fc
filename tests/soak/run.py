"""Run one schedule to its end; the same schedule always has the same outcome."""

import contextlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from cluster_resource.event import Event, cluster_name
from tests.soak import invariants
from tests.soak.faults import Fault
from tests.soak.files import ADOPTED_NAME, FILES, FIXED_NAME
from tests.soak.schedule import Operation
from tests.soak.world import SoakWorld
from tests.unit.cluster_resource.fake_sagemaker import FakeSageMaker
from tests.unit.cluster_resource.modes import SCRIPTS, in_mode
from tests.unit.cluster_resource.world import LOGICAL_ID, STACK, request

Json = dict[str, Any]
LONGEST_S = 4 * 3700
"""No request of CloudFormation's, with its rollback and clean-up, is open for longer."""

QUIET_S = 300
CREATION_S, UPDATE_S, DELETION_S = 120, 90, 60
ENOUGH = 9
"""More nodes than any file has in a group."""

NOVELTY = {"PropertiesVersion": "3", "Novelty": {"Since": "2"}}


@dataclass(frozen=True)
class Outcome:
    """The outcome of a schedule."""

    violations: list[str]
    calls: int
    has_crash: bool
    has_disorder: bool
    has_rollback: bool
    story: list[str]


class _Nowhere:
    """Discards the functions' logs."""

    def write(self, _: str) -> int:
        return 0

    def flush(self) -> None:
        """Do nothing."""


@dataclass
class Run:
    """A running schedule."""

    world: SoakWorld = field(default_factory=SoakWorld)
    has_disorder: bool = False
    counts_are_open: bool = False
    """Counts and groups were changed by hand, and are not compared."""

    def __post_init__(self) -> None:
        self._service({"creation_s": CREATION_S, "update_s": UPDATE_S})
        self.world.sagemaker.deletion_s = DELETION_S

    def do(self, operation: Operation) -> None:
        """Run one operation."""
        with _unlogged():
            getattr(self, f"_{operation['op']}")(operation)

    def finish(self) -> Outcome:
        """End all faults, wait until nothing runs, check; then delete the stack, and check again."""
        world = self.world
        with _unlogged():
            self._mend()
            self._settle({})
            self._let_the_service_end()
            world.timeline.pass_time(QUIET_S)
            invariants.check_rest(self)
            if world.cloudformation.phase in ("idle", "DELETE_FAILED", "UPDATE_ROLLBACK_FAILED"):
                self._destroy_to_the_end()
                invariants.check_gone(self)
            invariants.check_answers(self)
        faults = world.faults
        return Outcome(
            violations=[*world.violations, *world.sagemaker.foreign_changes],
            calls=faults.calls,
            has_crash=faults.crashes > 0,
            has_disorder=self.has_disorder,
            has_rollback=bool(world.cloudformation.rollbacks),
            story=list(_story(world)),
        )

    # The operations

    def _deploy(self, operation: Operation) -> None:
        if self.world.cloudformation.phase == "idle":
            self._pass_a_second()
            self.world.cloudformation.deploy(operation["file"], operation.get("then", ""))

    def _destroy(self, _: Operation) -> None:
        if self.world.cloudformation.phase in ("idle", "DELETE_FAILED", "UPDATE_ROLLBACK_FAILED"):
            self._pass_a_second()
            self.world.cloudformation.destroy()

    def _pass_a_second(self) -> None:
        """Give two user actions different dates: CloudFormation takes at least a second between them."""
        sent = [request.sent for request in self.world.cloudformation.requests.values()]
        if sent and (self.world.clock.now - sent[-1]).total_seconds() < 1:
            self.world.timeline.pass_time(1)

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

    def _cancel(self, _: Operation) -> None:
        self._pass_a_second()
        self.world.cloudformation.cancel()

    def _continue(self, _: Operation) -> None:
        self.world.cloudformation.go_on()

    def _skip(self, _: Operation) -> None:
        self.counts_are_open = True
        self.world.cloudformation.skip()

    def _wait(self, operation: Operation) -> None:
        self.world.timeline.pass_time(operation["seconds"])

    def _settle(self, _: Operation) -> None:
        world = self.world
        world.timeline.pass_time(LONGEST_S, until=lambda: world.is_at_rest)

    def _fault(self, operation: Operation) -> None:
        told = {key: value for key, value in operation.items() if key != "op"}
        self.world.faults.order(Fault(**told))

    def _deliver(self, operation: Operation) -> None:
        self.has_disorder |= operation["delays"] != [0]
        self.world.deliveries.append(operation["delays"])

    def _notice(self, operation: Operation) -> None:
        self.has_disorder |= operation["delays"] != [1]
        self.world.notices.append(operation["delays"])

    def _destination(self, operation: Operation) -> None:
        self.has_disorder |= operation["delays"] != [1]
        self.world.destinations.append(operation["delays"])
        self.world.latest_record_s = max(self.world.latest_record_s, *operation["delays"])

    def _outage(self, operation: Operation) -> None:
        sagemaker = self.world.sagemaker
        sagemaker.outage_until = sagemaker.clock.after(operation["seconds"])
        sagemaker.outage_code = operation.get("code", "ThrottlingException")

    def _stale(self, operation: Operation) -> None:
        self.world.sagemaker.stale_s = operation["seconds"]

    def _lag(self, operation: Operation) -> None:
        self.world.states.lag_s = operation["seconds"]

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

    def _release(self, operation: Operation) -> None:
        """Switch to a newer release, or back to this one."""
        self.world.is_newer_release = operation["newer"]
        self.world.cloudformation.novelty = NOVELTY if operation["newer"] else {}

    def _mend(self) -> None:
        world = self.world
        world.faults.forgive()
        world.deliveries.clear()
        world.notices.clear()
        world.destinations.clear()
        world.states.lag_s = world.sagemaker.stale_s = 0
        world.sagemaker.outage_until = world.clock.now
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


def _unlogged() -> contextlib.redirect_stdout[Any]:
    return contextlib.redirect_stdout(_Nowhere())


def _story(world: SoakWorld) -> Iterable[str]:
    """Return the story, request by request."""
    for asked in world.cloudformation.requests.values():
        verdicts = {f"{item['Status']} {item['PhysicalResourceId']}: {item['Reason'][:160]}" for item in asked.answers}
        said = " | ".join(sorted(verdicts)) or "no answer"
        at = (asked.sent - world.began).total_seconds()
        files = f"{asked.old_file} -> {asked.file}" if asked.old_file else asked.file
        what = f"{asked.id} {asked.kind} ({asked.purpose}, {files}) {asked.physical_id}"
        yield f"{at:>7.0f} s {what} => {len(asked.answers)} x {said}"
    for fault in world.faults.happened:
        yield f"fault: {json.dumps(fault.__dict__)}"
