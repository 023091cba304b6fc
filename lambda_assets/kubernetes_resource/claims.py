"""Find what uses a volume claim or a volume: Kubernetes deletes neither while it is in use. Runs in Lambda."""

from collections.abc import Iterator

from cluster_resource.event import Json
from kubernetes_resource.objects import CLAIM, VOLUME, Reference
from kubernetes_resource.session import Session, first_of

CORE = "/api/v1"


def use_of(session: Session, reference: Reference, live: Json) -> str:
    """Return what uses a claim or a volume; other kinds are not in use."""
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
