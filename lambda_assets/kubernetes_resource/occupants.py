"""Find what else would be lost with a Namespace or a CustomResourceDefinition. Runs in Lambda."""

import itertools
from collections.abc import Iterator
from urllib.parse import quote

from cluster_resource.event import Json
from kubernetes_resource.objects import DEFINITION, NAMESPACE, Reference
from kubernetes_resource.session import Session

PAGE = 500
MAX_NAMED = 3
AUTOMATIC = {
    ("ConfigMap", "kube-root-ca.crt"),
    ("ServiceAccount", "default"),
}
"""Objects that Kubernetes creates in each namespace."""
DERIVED = {"Endpoints", "EndpointSlice", "Event", "Lease"}
"""Kinds that Kubernetes or a controller creates for others; nothing of the user is in them."""


def reason_to_keep(session: Session, reference: Reference, live: Json) -> str:
    """Return which objects of other owners the deletion would delete; only namespaces and definitions have any."""
    if reference.kind == NAMESPACE:
        return _held_text(_in_namespace(session, reference.name))
    if reference.kind != DEFINITION:
        return ""
    version = next((each["name"] for each in live["spec"]["versions"] if each.get("served")), None)
    if version is None:
        return "none of its versions is served, so its objects cannot be listed"
    return _held_text(_of_definition(session, live["spec"], version))


def _held_text(held: Iterator[str]) -> str:
    """Return the first objects as text; the others are not listed."""
    names = list(itertools.islice(held, MAX_NAMED + 1))
    more = " and more" if len(names) > MAX_NAMED else ""
    return f"it holds {', '.join(names[:MAX_NAMED])}{more}" if names else ""


def _in_namespace(session: Session, namespace: str) -> Iterator[str]:
    for collection in session.discovery.namespaced():
        if collection.kind in DERIVED:
            continue
        for item in _items(session, collection.path(namespace)):
            if not _is_automatic(collection.kind, item) and not _goes_with_others(session, item):
                yield f"{collection.kind} {item['metadata']['name']}"


def _of_definition(session: Session, spec: Json, version: str) -> Iterator[str]:
    path = f"/apis/{spec['group']}/{version}/{spec['names']['plural']}"
    for item in _items(session, path):
        if not _goes_with_others(session, item):
            yield f"{spec['names']['kind']} {item['metadata']['name']}"


def _items(session: Session, path: str) -> Iterator[Json]:
    """Yield the objects of a collection, page by page; none if it is no longer served."""
    token = ""
    while True:
        session.check_time()
        page = session.client.get(f"{path}?limit={PAGE}{f'&continue={quote(token)}' if token else ''}", path)
        yield from (page or {}).get("items") or ()
        token = ((page or {}).get("metadata") or {}).get("continue") or ""
        if not token:
            return


def _is_automatic(kind: str, item: Json) -> bool:
    is_token = kind == "Secret" and item.get("type") == "kubernetes.io/service-account-token"
    return is_token or (kind, item["metadata"]["name"]) in AUTOMATIC


def _goes_with_others(session: Session, item: Json) -> bool:
    """Return whether an object is ours, is being deleted, or goes with its owner."""
    metadata = item["metadata"]
    return session.target.owns(item) or bool(metadata.get("deletionTimestamp") or metadata.get("ownerReferences"))
