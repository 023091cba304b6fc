"""Apply the desired objects in order: server-side, without force. Runs in Lambda."""

from cluster_resource.errors import PendingError
from cluster_resource.event import Json
from kubernetes_resource.claims import use_of
from kubernetes_resource.errors import Kind, KubernetesError
from kubernetes_resource.objects import DEFINITION, RANKS, Desired, Reference, deletion_text, owner_text
from kubernetes_resource.position import Position
from kubernetes_resource.session import Session


def apply_objects(session: Session, desired: Desired, position: Position) -> None:
    """Apply the objects from the position on; raise PendingError if the rest must wait."""
    last_definition = sum(reference.rank <= RANKS[DEFINITION] for reference in desired.references)
    while position.applied <= len(desired.objects):
        if position.applied == last_definition:
            _check_established(session, desired)
        if position.applied == len(desired.objects):
            return
        _apply(session, desired, desired.objects[position.applied])
        position.applied += 1


def _apply(session: Session, desired: Desired, item: Json) -> None:
    """Apply one object, unless another owner has it or it is being deleted."""
    reference = Reference.of(item)
    path = _path(session, desired, reference)
    live = session.client.get(path, str(reference))
    if live:
        if live["metadata"].get("deletionTimestamp"):
            _check_unused(session, reference, live)
            raise PendingError(f"{reference}: an earlier object is still being deleted{deletion_text(live)}")
        if not session.target.owns(live):
            raise KubernetesError(Kind.FOREIGN, str(reference), f"exists and belongs to {owner_text(live)}")
        # The API server refuses another uid, so an object that replaced this one since then is not changed.
        item = {**item, "metadata": {**item["metadata"], "uid": live["metadata"]["uid"]}}
    session.client.apply(path, item, str(reference))


def _check_unused(session: Session, reference: Reference, live: Json) -> None:
    """Raise an error if the end of an object that is being deleted depends on its users."""
    if in_use := use_of(session, reference, live):
        raise KubernetesError(Kind.IN_USE, str(reference), f"is being deleted, but {in_use}")


def _path(session: Session, desired: Desired, reference: Reference) -> str:
    path = session.discovery.path(reference)
    if path:
        return path
    if (reference.group, reference.kind) in desired.defined_kinds:
        raise PendingError(f"{reference}: its definition is not served yet")
    problem = f"the EKS cluster does not serve kind {reference.kind} of {reference.api_version}"
    raise KubernetesError(Kind.INVALID, str(reference), problem)


def _check_established(session: Session, desired: Desired) -> None:
    """Raise PendingError if a definition is not in effect yet, or an error if its names are taken."""
    for reference in (each for each in desired.references if each.kind == DEFINITION):
        live = session.client.get(_path(session, desired, reference), str(reference)) or {}
        conditions = {each["type"]: each for each in (live.get("status") or {}).get("conditions") or ()}
        if conditions.get("NamesAccepted", {}).get("status") == "False":
            raise KubernetesError(Kind.INVALID, str(reference), conditions["NamesAccepted"].get("message", "its names are taken"))
        if conditions.get("Established", {}).get("status") != "True":
            raise PendingError(f"{reference}: not established yet")
