"""Apply, prune or delete the objects of a request, or check add-ons. Runs in Lambda as Step.

Applying is idempotent, and a deletion names the object that it read.
"""

import functools
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import Any, NamedTuple

from cluster_resource import fenced_step
from cluster_resource.deadline import Context, seconds_left
from cluster_resource.errors import FinalError, PendingError
from cluster_resource.event import Event, Json, Owner
from cluster_resource.executions import Executions, executions_of
from cluster_resource.response import Send, send
from kubernetes_resource.discovery import Discovery
from kubernetes_resource.eks_access import EksAccess, EksCluster, eks_access
from kubernetes_resource.errors import Kind, KubernetesError
from kubernetes_resource.inventory import Inventory
from kubernetes_resource.objects import Desired, Target, references_in
from kubernetes_resource.phases import converge, delete
from kubernetes_resource.position import APPLIED, REMOVED, Position
from kubernetes_resource.session import Session

ADDON_HEALTH = "Custom::HyperPodAddonHealth"
FINAL_KINDS = (Kind.CONFLICT, Kind.FOREIGN, Kind.IN_USE, Kind.INVALID, Kind.REJECTED, Kind.TOO_LARGE)
PATIENCE_S: Mapping[Any, float] = {
    **fenced_step.PATIENCE_S,
    **dict.fromkeys(FINAL_KINDS, 0),
    **dict.fromkeys((Kind.UNAUTHORIZED, Kind.FORBIDDEN), 300),
    **dict.fromkeys((Kind.UNTRUSTED, Kind.ABSENT, Kind.QUOTA), 90),
    Kind.DEGRADED: 20 * 60,
}
"""How long errors last that end the request: an access entry takes effect within seconds, or minutes.

A ResourceQuota counts deleted objects some seconds later. Objects that this request would delete only come after those that it
applies, so a longer wait does not help.
"""
ENDPOINT = "endpoint"
"""The name in the memory of the API server to which the position belongs."""
REACHED = "reached"
"""The name in the memory of whether a step of a Create has read the inventory. Steps before that change nothing."""


@functools.cache
def _access() -> EksAccess:
    """Return the access to EKS, once per sandbox."""
    return eks_access()


def handler(payload: Json, context: Context) -> Json:
    """Do a step (`event`, `memory`, `now`, `started`), or send the response (`event`, `response`)."""
    executions = functools.partial(executions_of, payload.get("machine", ""))
    return handle(payload, Host(_access, functools.partial(seconds_left, context), time.sleep), executions, send)


class Host(NamedTuple):
    """What a step has of the machine that it runs on."""

    access: Callable[[], EksAccess]
    seconds_left: Callable[[], float]
    sleep: Callable[[float], None]


def handle(payload: Json, host: Host, executions: Callable[[], Executions], send: Send) -> Json:
    """Do what the handler does, with given clients."""
    calls = functools.partial(_calls, host)
    fix = "remove what blocks it, then "
    look = functools.partial(_look, host)
    counters = (APPLIED, REMOVED)
    resource = fenced_step.Resource(calls, lambda each: Target.of(each).physical_id, PATIENCE_S, counters, fix, look, REACHED)
    return fenced_step.handle(payload, resource, executions, send)


def _look(host: Host, event: Event, rest: dict[str, Any]) -> None:
    """Read the inventory before a Create changes anything: only the memory of a finished step outlives a step that dies."""
    if event.request_type != "Create" or rest.get(REACHED) or event.resource_type == ADDON_HEALTH:
        return
    target = Desired.of(event.properties).target
    cluster = host.access().cluster(target.cluster)
    _without_server(target, cluster, is_delete=False)
    if cluster:
        with closing(host.access().client(cluster, host.seconds_left)) as client:
            Inventory(client, target, Owner(event.stack_id, event.logical_id)).read()
        rest[REACHED] = True


def _calls(host: Host, event: Event, rest: dict[str, Any]) -> fenced_step.Done:
    """Find the API server, and converge or delete; return the result."""
    if event.resource_type == ADDON_HEALTH:
        return _check_addons(event, host.access())
    if event.request_type == "Create" and not rest.get(REACHED):
        _look(host, event, rest)
        raise PendingError("the API server answers; the next step applies the objects")
    target = Target.of(event.properties)
    if event.request_type == "Update":
        target.check_name(event.physical_id)
    desired = None if event.request_type == "Delete" else Desired.of(event.properties)
    cluster = host.access().cluster(target.cluster)
    without_server = _without_server(target, cluster, is_delete=desired is None)
    if without_server or cluster is None:
        return fenced_step.Done(without_server)
    with closing(host.access().client(cluster, host.seconds_left)) as client:
        session = Session(target, client, Discovery(client), host.sleep)
        # A new EKS cluster of this name has none of the objects.
        position = Position(rest if rest.get(ENDPOINT) == cluster.endpoint else {})
        try:
            return _phase(event, desired, session, position)
        finally:
            rest.update({**position.dump(), ENDPOINT: cluster.endpoint})


def _check_addons(event: Event, access: EksAccess) -> fenced_step.Done:
    """Raise an error that names the new and changed add-ons that are not ACTIVE: for CloudFormation, DEGRADED ones are complete.

    The name in the ID follows from the add-ons: an Update to the ID that it has is a rollback's, whose failure blocks the stack.
    """
    # https://github.com/hashicorp/terraform-provider-aws/issues/44669
    target, before = Target.of(event.properties), (event.old_properties or {}).get("Addons", {})
    if event.request_type == "Delete" or event.physical_id == target.physical_id:
        return fenced_step.Done("not checked")
    changed = [name for name, mark in event.properties["Addons"].items() if before.get(name) != mark]
    if unhealthy := [_text(found) for name in changed if (found := access.addon(target.cluster, name))["status"] != "ACTIVE"]:
        raise KubernetesError(Kind.DEGRADED, "Addons", "; ".join(unhealthy))
    return fenced_step.Done(f"{len(changed)} add-ons are ACTIVE")


def _text(addon: Json) -> str:
    reasons = [f"{each['code']}: {each.get('message', '').rstrip('.')}" for each in addon.get("health", {}).get("issues", ())]
    return f"add-on {addon['addonName']} is {addon['status']}{': ' if reasons else ''}{', '.join(reasons)}"


def _without_server(target: Target, cluster: EksCluster | None, *, is_delete: bool) -> str:
    """Return the result of a Delete without an API server, hence without objects; other requests wait or fail without one."""
    status = cluster.status if cluster else ""
    text = f"EKS cluster {target.cluster} {f'is {status} and has no API server' if cluster else 'does not exist'}"
    if is_delete:
        return "" if cluster and cluster.endpoint else text
    if cluster is None:
        raise FinalError(f"ClusterName: {text}; create it first")
    if status in ("DELETING", "FAILED"):
        raise FinalError(f"ClusterName: EKS cluster {target.cluster} is {status}; create it again")
    if not cluster.endpoint:
        raise PendingError(text)
    return ""


def _phase(event: Event, desired: Desired | None, session: Session, position: Position) -> fenced_step.Done:
    """Converge or delete; return the result."""
    inventory = Inventory(session.client, session.target, Owner(event.stack_id, event.logical_id))
    if desired:
        return converge(session, desired, inventory, position, references_in(event.old_properties or {}))
    return delete(session, inventory, position, references_in(event.properties))
