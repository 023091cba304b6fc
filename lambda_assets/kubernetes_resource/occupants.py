"""Find what keeps an object: what else would be lost with it, or what uses a volume claim or a volume."""

from collections.abc import Iterator

from cluster_resource.event import Json
from kubernetes_resource.client import METADATA_TYPE
from kubernetes_resource.errors import Kind, KubernetesError
from kubernetes_resource.objects import CLAIM, DEFINITION, NAMESPACE, VOLUME, Reference
from kubernetes_resource.session import Session, first_of

CORE = "/api/v1"
AUTOMATIC = {
    ("ConfigMap", "kube-root-ca.crt"),
    ("ServiceAccount", "default"),
}
"""Objects that Kubernetes creates in each namespace."""
ACCOUNT = "kubernetes.io/service-account.name"
DERIVED = {"Endpoints", "EndpointSlice", "Event", "Lease", "LocalQueue"}
"""Kinds that Kubernetes, a controller or task governance creates; nothing of the user is in them."""


def reason_to_keep(session: Session, reference: Reference, live: Json) -> str:
    """Return why an object is not deleted: with it, objects of other owners would go, or pods use it."""
    if in_use := use_of(session, reference, live):
        return in_use
    # A deletion that has started cannot be undone.
    if live["metadata"].get("deletionTimestamp"):
        return ""
    if reference.kind == NAMESPACE:
        return _held_text(_in_namespace(session, reference.name))
    return _definition_text(session, live["spec"]) if reference.kind == DEFINITION else ""


def use_of(session: Session, reference: Reference, live: Json) -> str:
    """Return what uses a claim or a volume, which Kubernetes does not delete meanwhile; other kinds are not in use."""
    if reference.kind == CLAIM:
        names = first_of(_pods(session, reference))
        return f"it is in use by {names}" if names else ""
    if reference.kind == VOLUME:
        return _bound_claim(session, live)
    return ""


def _pods(session: Session, claim: Reference) -> Iterator[str]:
    """Yield the pods that name the claim; even one that has ended protects it from deletion."""
    for pod in session.items(f"{CORE}/namespaces/{claim.namespace}/pods"):
        for volume in (pod.get("spec") or {}).get("volumes") or ():
            if (volume.get("persistentVolumeClaim") or {}).get("claimName") == claim.name:
                yield f"Pod {pod['metadata']['name']}"
                break


def _bound_claim(session: Session, volume: Json) -> str:
    """Return the claim that a volume is bound to, or will be, if the claim exists."""
    bound = (volume.get("spec") or {}).get("claimRef") or {}
    if not bound.get("name"):
        return ""
    claim = Reference("v1", CLAIM, bound["namespace"], bound["name"])
    live = session.client.get(f"{CORE}/namespaces/{claim.namespace}/persistentvolumeclaims/{claim.name}", str(claim))
    # Without a uid, the volume names the claim and the controller has not bound them yet.
    return f"it is bound to {claim}" if live and bound.get("uid") in (None, live["metadata"]["uid"]) else ""


def _definition_text(session: Session, spec: Json) -> str:
    version = next((each["name"] for each in spec["versions"] if each.get("served")), None)
    if version is None:
        return "none of its versions is served, so its objects cannot be listed"
    return _held_text(_of_definition(session, spec, version))


def _held_text(held: Iterator[str]) -> str:
    try:
        names = first_of(held)
    except KubernetesError as error:
        if error.kind is not Kind.PODS_AWAY:
            raise
        # While objects cannot be listed, Kubernetes does not finish the deletion of what holds them either.
        return f"its objects cannot be listed: {error}"
    return f"it holds {names}" if names else ""


def _in_namespace(session: Session, namespace: str) -> Iterator[str]:
    for collection in session.discovery.namespaced():
        if collection.kind in DERIVED:
            continue
        for item in session.items(collection.path(namespace), METADATA_TYPE):
            if not _is_automatic(collection.kind, item) and not _goes_with_others(session, item):
                yield f"{collection.kind} {item['metadata']['name']}"


def _of_definition(session: Session, spec: Json, version: str) -> Iterator[str]:
    path = f"/apis/{spec['group']}/{version}/{spec['names']['plural']}"
    for item in session.items(path, METADATA_TYPE):
        if not _goes_with_others(session, item):
            yield f"{spec['names']['kind']} {item['metadata']['name']}"


def _is_automatic(kind: str, item: Json) -> bool:
    # The type of a secret is not in its metadata; only a token of an account has the annotation.
    is_token = kind == "Secret" and ACCOUNT in (item["metadata"].get("annotations") or {})
    return is_token or (kind, item["metadata"]["name"]) in AUTOMATIC


def _goes_with_others(session: Session, item: Json) -> bool:
    """Return whether an object is ours, is being deleted, or goes with its owner."""
    metadata = item["metadata"]
    return session.target.owns(item) or bool(metadata.get("deletionTimestamp") or metadata.get("ownerReferences"))
