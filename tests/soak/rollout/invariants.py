"""The invariants of a rollout; docs/internals/soak.md describes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cluster_resource.pointer import COMPUTE, CONTROLLER, FULL, Pointer, share
from cluster_resource.waves import FIRST_PERCENT
from tests.soak.invariants import MACHINERY, PATIENCE_S, TRANSIENT
from tests.soak.rollout.stack import version_of
from tests.unit.cluster_resource.rollout_world import sha256_of

if TYPE_CHECKING:
    from datetime import datetime

    from tests.soak.cloudformation import Request
    from tests.soak.rollout.nodes import AgentNode
    from tests.soak.rollout.run import RolloutRun
    from tests.soak.rollout.world import RolloutWorld

Json = dict[str, Any]
GRACE_S = 180
"""A step can hang for a minute between its look at the reports and its write; nodes report each minute after a change."""

STOPPED = "the rollout to running nodes stopped"


def check_pointer(world: RolloutWorld, request: Request, pointer: Pointer) -> list[str]:
    """Check a write of the pointer: its generation, and that each wave waits for the wave before."""
    if _is_overlapped(world, request):
        return []  # the fence has its own invariant
    return [*_generation(world, request, pointer), *([] if is_return(world, request) else _waves(world, request, pointer))]


def is_return(world: RolloutWorld, request: Request) -> bool:
    """Return whether the request returns to the scripts before an earlier one, at once."""
    if request.purpose == "rollback":
        return True
    back = version_of(request.file), version_of(request.old_file)
    earlier = [each for each in world.cloudformation.requests.values() if each.kind == "Update" and each is not request]
    return request.kind == "Update" and any((version_of(each.old_file), version_of(each.file)) == back for each in earlier)


def _is_overlapped(world: RolloutWorld, request: Request) -> bool:
    return list(world.cloudformation.requests.values())[-1] is not request


def _generation(world: RolloutWorld, request: Request, pointer: Pointer) -> list[str]:
    is_repeated = pointer.text in world.account.texts  # by a lost reply, or by an SDK that tries again
    if pointer.generation > world.account.highest or is_repeated:
        return []
    return [f"generation: {request.id} writes {pointer.generation} after {world.account.highest}"]


def _waves(world: RolloutWorld, request: Request, pointer: Pointer) -> list[str]:
    target, before = pointer.bundle.sha256, world.reached.get(request.id, set())
    nodes = visible(world)
    waiting = [node.instance for node in nodes if node.instance in before and node.sha256 != target]
    includes = pointer.reach.includes
    new = [node for node in nodes if node.instance not in before and includes(node.role, node.instance) and node.sha256 != target]
    if not new:
        return []
    since = world.written[request.id][0].generation if request.id in world.written else pointer.generation
    failed = [node.instance for node in nodes if node.instance in before and _has_failed(world, node, target, since)]
    found = [f"wave too early: {request.id} goes on while {', '.join(waiting)} did not apply it"] if waiting else []
    found += [f"wave after a failure: {request.id} goes on after {', '.join(failed)} failed"] if failed else []
    roles = {node.role for node in new}
    found += [f"two waves at once: {request.id} reaches {', '.join(sorted(roles))}"] if len(roles) > 1 else []
    if roles == {CONTROLLER} and len(new) > 1:
        found.append(f"controllers together: {request.id} reaches {', '.join(node.instance for node in new)}")
    has_started = any(node.role == COMPUTE and node.sha256 == target for node in world.account.nodes.living)
    return [*found, *([] if has_started else _first_compute(request, nodes, new, before))]


def _first_compute(request: Request, nodes: list[AgentNode], new: list[AgentNode], before: set[str]) -> list[str]:
    compute = [node for node in nodes if node.role == COMPUTE]
    if any(node.instance in before for node in compute):
        return []
    first = max(FIRST_PERCENT, min((share(node.instance) for node in compute), default=0) + 1)
    late = [node.instance for node in new if node.role == COMPUTE and share(node.instance) >= first]
    return [f"no first compute nodes: {request.id} reaches {', '.join(late)} at once"] if late else []


def _has_failed(world: RolloutWorld, node: AgentNode, target: str, since: int) -> bool:
    return any(sha256 == target and generation >= since and _lasts(world, at) for sha256, generation, at in node.failures)


def visible(world: RolloutWorld) -> list[AgentNode]:
    """Return the nodes whose agents work and reported for a while."""
    living = world.account.nodes.living
    return [node for node in living if not node.is_silent and node.healthy_since and _lasts(world, node.healthy_since)]


def _lasts(world: RolloutWorld, since: datetime) -> bool:
    return (world.clock.now - since).total_seconds() >= GRACE_S + world.account.late_s


def check_answer(world: RolloutWorld, request: Request, body: Json) -> list[str]:
    """Check that a SUCCESS is true when it is sent, and that waiting would not have avoided a failure."""
    if request.is_closed:
        return []
    if body["Status"] != "SUCCESS":
        return _needless(world, request, body["Reason"])
    if request.kind == "Delete":
        return [f"left over: the pointer exists when {request.id} is answered"] if world.account.value is not None else []
    if (world.clock.now - world.account.changed_by_hand).total_seconds() < GRACE_S:
        return []
    text, target = body["Data"]["Rollout"], sha256_of(version_of(request.file))
    if "stopped" in text and (request.file.endswith("-warn") or is_return(world, request)):
        return []
    pointer = Pointer.parse(world.account.value or "")
    if pointer is None or (pointer.bundle.sha256, pointer.reach) != (target, FULL):
        return [f"false success: {request.id} is answered '{text}' while the pointer is {world.account.value}"]
    other = [node.instance for node in visible(world) if node.sha256 != target]
    is_checked = request.id in world.written and not is_return(world, request)
    return (
        [f"false success: {request.id} is answered '{text}' while {', '.join(other)} did not apply it"]
        if other and is_checked
        else []
    )


def _needless(world: RolloutWorld, request: Request, reason: str) -> list[str]:
    took = (world.clock.now - request.sent).total_seconds()
    if "ended as TIMED_OUT" in reason:
        return [f"no reason: {request.id} ran into the state machine's time-out"]
    if request.purpose == "rollback" and reason.startswith("the rollout to running nodes"):
        return [f"failed rollback: {request.id}: {reason[:160]}"]
    is_transient = any(code in reason for code in TRANSIENT) and not reason.startswith(MACHINERY)
    is_needless = (is_transient and took < PATIENCE_S) or (reason.startswith(f"{STOPPED} at") and not world.has_trouble)
    return [f"needless failure: {request.id} after {took:.0f} s: {reason[:160]}"] if is_needless else []


def check_rest(run: RolloutRun) -> None:
    """Check that the pointer is what CloudFormation believes."""
    world, stack = run.world, run.world.cloudformation
    if stack.current is not None:
        world.violations.append(f"no rest: {stack.current.id} is {stack.phase} after hours without a fault")
    stack_file = stack.resource.file if stack.resource else ""
    last = list(world.cloudformation.requests.values())[-1]
    is_known = stack.phase == "idle" and stack_file == last.file and not stack.has_skipped and last.answers
    if is_known and last.sent > world.account.changed_by_hand and not _has_stopped(last):
        pointer = Pointer.parse(world.account.value or "")
        if pointer is None or (pointer.bundle.sha256, pointer.reach) != (sha256_of(version_of(stack_file)), FULL):
            world.violations.append(f"not as wanted: the pointer is {world.account.value}, the stack has {stack_file}")
    if stack.resource is None and stack.phase == "idle" and world.account.value is not None:
        world.violations.append("left over: the pointer exists, and the stack has no resource")


def _has_stopped(request: Request) -> bool:
    return "stopped" in str(request.answers[0].get("Data", ""))


def check_converged(run: RolloutRun, version: str) -> None:
    """Check that all nodes run the scripts of a deployment without faults."""
    world = run.world
    last = list(world.cloudformation.requests.values())[-1]
    if not last.answers or last.answers[0]["Status"] != "SUCCESS":
        world.violations.append(f"not converged: {last.id} is answered {[each['Reason'] for each in last.answers]}")
    other = [node.instance for node in world.account.nodes.living if node.sha256 != sha256_of(version)]
    if other:
        world.violations.append(f"not converged: {', '.join(other)} do not run {version}")


def check_gone(run: RolloutRun) -> None:
    """Check that nothing is left after the stack was deleted."""
    if run.world.cloudformation.resource or run.world.cloudformation.phase != "idle":
        run.world.violations.append(f"not deleted: the stack is in {run.world.cloudformation.phase}")
    if run.world.account.value is not None:
        run.world.violations.append("left over: the pointer exists after the stack was deleted")
