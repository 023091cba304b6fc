"""Find what else would be lost with a Namespace or a CustomResourceDefinition. Runs in Lambda."""

from collections.abc import Iterator

from cluster_resource.event import Json
from kubernetes_resource.claims import use_of
from kubernetes_resource.client import METADATA_TYPE
from kubernetes_resource.errors import Kind, KubernetesError
from kubernetes_resource.objects import DEFINITION, NAMESPACE, Reference
from kubernetes_resource.session import Session, first_of

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
