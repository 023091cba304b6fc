"""The invariants."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cluster_resource.event import CLUSTER, ROLLOUT, WAIT
from tests.soak.cloudformation import SERVICE_TIMEOUT_S, Request, wrong_id
from tests.soak.files import is_replacement, wanted

if TYPE_CHECKING:
    from tests.soak.functions import FunctionsWorld
    from tests.soak.run import Run
    from tests.soak.world import SoakWorld
    from tests.unit.cluster_resource.fake_cluster import FakeCluster

Json = dict[str, Any]
TRANSIENT = ("ThrottlingException", "InternalFailure", "ReadTimeoutError", "ConflictException")
DIRECT = "the entry function failed to start the request"
MACHINERY = ("the entry function", "the state machine")
FENCED_S = 400
"""Plus how late records of failed entries arrive: until then nothing shows that there is a newer request."""
PATIENCE_S = 3000
"""Requests have 57 minutes, less the time of their delivery."""


def check_living(world: SoakWorld) -> list[str]:
    """Check that one resource never has two clusters, except during a replacement."""
    living = world.sagemaker.ours(and_going=False)
    found = []
    if len({_network(cluster) for cluster in living}) < len(living) and not world.renames:
        found.append(f"two clusters: {', '.join(cluster.name for cluster in living)} want the same")
    if len(living) > 1 and not world.replaces:
        found.append(f"two clusters: {', '.join(cluster.name for cluster in living)}, and nothing was to be replaced")
    # A request may not have seen a cluster that was deleted by hand before the step recorded it.
    if not (world.deleted_by_hand and world.faults.happened):
        made = world.sagemaker.creations.items()
        found += [f"created again: {number} clusters for {name}" for name, number in made if number > 1]
    return found


def check_id(request: Request, body: Json) -> list[str]:
    """Check the ID of an answer: a failed Update with another one makes CloudFormation delete that."""
    given, answered = request.raw.get("PhysicalResourceId"), body["PhysicalResourceId"]
    wrong = wrong_id(request, body)
    if not wrong and request.kind == "Update" and body["Status"] != "SUCCESS" and answered != given:
        wrong = f"fails with the ID {answered} instead of {given}"
    return [f"wrong ID: the answer to {request.id} ({request.kind}) {wrong}"] if wrong else []


def check_fence(world: FunctionsWorld, operation: str, request_id: str) -> list[str]:
    """Check that an older request changes nothing after a newer one had its response, or time to stop it."""
    newer = [request for request in world.cloudformation.requests.values() if request.type in (CLUSTER, ROLLOUT)]
    while newer and newer.pop(0).id != request_id:
        pass
    if operation.startswith(("Describe", "List")) or not newer:
        return []
    # If Step Functions starts no execution, the responder responds at once, because nothing can wait.
    answered = next((request for request in newer if request.is_heard and world.has_execution(request)), None)
    since = (world.clock.now - newer[-1].sent).total_seconds()
    if answered:
        return [f"not fenced: {operation} of {request_id} after {answered.id} was answered"]
    return (
        [f"not fenced: {operation} of {request_id}, {since:.0f} s after {newer[-1].id} was sent"]
        if since >= FENCED_S + world.latest_record_s
        else []
    )


def check_answer(world: SoakWorld, request: Request, body: Json) -> list[str]:
    """Check that a SUCCESS is true when it is sent, and that waiting would not have avoided a failure."""
    if request.is_closed:
        return []
    if body["Status"] != "SUCCESS":
        return _needless(world, request, body["Reason"])
    if request.kind == "Delete":
        return _deleted(world, request)
    name = request.cluster or body["PhysicalResourceId"]
    cluster = world.sagemaker.find(name)
    if cluster is None or cluster.status == "Deleting":
        return [] if world.deleted_by_hand else [f"false success: {request.id} has no cluster {name}"]
    asked = wanted(request.file)
    if asked.waits and cluster.status not in ("InService", "Failed") and not _hands_over(world, request):
        return [f"false success: {request.id} was answered while {cluster.name} is {cluster.status}"]
    return [f"not as wanted: {text}" for text in _other_setup(cluster, request.file)] or _missing_nodes(world, request, cluster)


def _other_setup(cluster: FakeCluster, file: str) -> list[str]:
    is_api = cluster.is_continuous and "SlurmConfig" in cluster.groups.get("workers", {"SlurmConfig": {}})
    return [f"{cluster.name} has another setup than file {file}"] if wanted(file).is_continuous != is_api else []


def _hands_over(world: SoakWorld, request: Request) -> bool:
    """Return whether the next resource may continue to wait, because the request's hour is over."""
    return (
        request.type == CLUSTER
        and wanted(request.file).hours > 1
        and (world.clock.now - request.sent).total_seconds() > PATIENCE_S
    )


def _missing_nodes(world: SoakWorld, request: Request, cluster: FakeCluster) -> list[str]:
    """Check that the nodes run that a SUCCESS stands for: of an Update or an adoption, only those of groups that it enlarged."""
    asked = wanted(request.file)
    if not asked.waits_for_nodes or cluster.status == "Failed" or world.changed_by_hand or _hands_over(world, request):
        return []
    is_new = request.kind == "Create" and not asked.adopts
    grown = (
        asked.counts if request.type == WAIT or is_new else world.sagemaker.enlarged.get(request.id, set()) & asked.counts.keys()
    )
    few = [name for name in grown if cluster.running.get(name, 0) < asked.least[name]]
    return [f"false success: {request.id} was answered with too few nodes in {', '.join(sorted(few))}"] if few else []


def _needless(world: SoakWorld, request: Request, reason: str) -> list[str]:
    took = (world.clock.now - request.sent).total_seconds()
    if "ended as TIMED_OUT" in reason:
        return [f"no reason: {request.id} ran into the state machine's time-out"]
    if _awaits_other_nodes(world, request, reason):
        return [f"needless failure: {request.id} added no nodes: {reason[:120]}"]
    is_transient = any(code in reason for code in TRANSIENT) and not reason.startswith(MACHINERY)
    return [f"needless failure: {request.id} after {took:.0f} s: {reason[:120]}"] if is_transient and took < PATIENCE_S else []


def _awaits_other_nodes(world: SoakWorld, request: Request, reason: str) -> bool:
    """Return whether an Update failed at its deadline for nodes that it did not add; a failed call is another reason."""
    is_update = request.type == CLUSTER and request.kind == "Update" and not is_replacement(request.old_file, request.file)
    is_late = "is still InService after" in reason and "last error" not in reason
    return is_update and is_late and not world.sagemaker.enlarged.get(request.id)


def _deleted(world: SoakWorld, request: Request) -> list[str]:
    left = [
        cluster.name
        for cluster in world.sagemaker.ours(and_going=not _hands_over(world, request))
        if request.purpose == "destroy" or cluster.name == request.physical_id
    ]
    left = [name for name in left if name not in world.cloudformation.abandoned]
    return [f"left over: {', '.join(left)} lives when {request.id} is answered SUCCESS"] if left else []


def check_answers(world: FunctionsWorld) -> None:
    """Check that every request gets a response, in time, and always the same one."""
    for request in world.cloudformation.requests.values():
        if not request.answers or request.answered is None:
            world.violations.append(f"no answer: {request.id} ({request.kind})")
            continue
        took = (request.answered - request.sent).total_seconds()
        if took >= SERVICE_TIMEOUT_S:
            world.violations.append(f"too late: {request.id} was answered after {took:.0f} s")
        if any(not _agree(world, other, request.answers[0]) for other in request.answers):
            said = sorted({f"{item['Status']} {item['Reason'][:80]}" for item in request.answers})
            world.violations.append(f"two verdicts: {request.id} was answered {said}")


def _agree(world: FunctionsWorld, answer: Json, other: Json) -> bool:
    """Return whether two answers to a request mean the same.

    If the responder may not start an execution, it answers FAILED at once. A start by the entry function that lands later answers
    FAILED again, with its own reason. CloudFormation takes the first.
    """
    both = [{name: value for name, value in each.items() if name != "Reason"} for each in (answer, other)]
    is_refused = any(fault.function == "responder" and fault.kind == "refuse" for fault in world.faults.happened)
    is_direct = is_refused and any(each["Reason"].startswith(DIRECT) for each in (answer, other))
    return answer == other or (is_direct and answer["Status"] == "FAILED" and both[0] == both[1])


def check_rest(run: Run) -> None:
    """Check that the clusters are what CloudFormation believes."""
    world = run.world
    stack = world.cloudformation
    if stack.current is not None and stack.phase != "UPDATE_ROLLBACK_FAILED":
        world.violations.append(f"no rest: {stack.current.id} is open after hours without a fault")
    if stack.phase != "idle":
        return
    owned = {cluster.name: cluster for cluster in world.sagemaker.ours() if cluster.name not in stack.abandoned}
    name = stack.resource.physical_id if stack.resource else ""
    spare = sorted(owned.keys() - {name})
    # If a rollback failed because its cluster was deleted by hand, and was skipped, only the next request cleans up.
    if spare and not (stack.has_skipped and world.deleted_by_hand):
        world.violations.append(f"left over: {', '.join(spare)} lives; the stack has {name or 'nothing'}")
    if stack.resource is None or world.deleted_by_hand:
        return
    if name not in owned:
        world.violations.append(f"gone: the stack has {name}, and there is no such cluster of ours")
        return
    world.violations.extend(f"not as wanted: {text}" for text in _differences(run, owned[name], stack.resource.file))


def check_gone(run: Run) -> None:
    """Check that nothing is left after the stack was deleted."""
    world = run.world
    stack = world.cloudformation
    if stack.phase != "idle" or stack.resource:
        world.violations.append(f"not deleted: the stack is in {stack.phase} after a Delete without a fault")
    left = [cluster.name for cluster in world.sagemaker.ours() if cluster.name not in stack.abandoned]
    if left:
        world.violations.append(f"left over: {', '.join(left)} lives after the stack was deleted")


def _kept_groups(world: SoakWorld) -> set[str]:
    """Return the groups that the last response names as kept."""
    requests = [request for request in world.cloudformation.requests.values() if request.type == CLUSTER]
    reasons = [str(answer["Reason"]) for request in requests for answer in request.answers]
    _, is_named, names = (reasons[-1] if reasons else "").partition("in neither this file nor the previous one: ")
    return set(names.split(", ")) if is_named else set()


def _differences(run: Run, cluster: FakeCluster, file: str) -> list[str]:
    asked = wanted(file)
    found: list[str] = []
    if cluster.status == "Failed":
        return found
    if cluster.status != "InService" and asked.waits:
        found.append(f"{cluster.name} is {cluster.status}")
    told = _kept_groups(run.world) - asked.counts.keys()
    counts = {name: group["InstanceCount"] for name, group in cluster.groups.items() if name not in told}
    is_told_later = bool(cluster.failure) and not asked.waits  # the response did not wait for the rollback
    if counts != asked.counts and not run.counts_are_open and not is_told_later:
        found.append(f"{cluster.name} has {counts}, file {file} wants {asked.counts}")
    found += [
        f"tag {key} of {cluster.name} is {cluster.tags.get(key)}"
        for key, value in asked.tags.items()
        if cluster.tags.get(key) != value
    ]
    found += [
        f"{key} of {cluster.name} is not {value}" for key, value in asked.settings.items() if cluster.settings.get(key) != value
    ]
    found += _other_setup(cluster, file)
    if cluster.settings["VpcConfig"]["Subnets"] != asked.subnets:
        found.append(f"{cluster.name} is in the wrong network")
    return found


def _network(cluster: FakeCluster) -> str:
    return str(cluster.settings["VpcConfig"])
