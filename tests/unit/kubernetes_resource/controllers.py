"""What Kubernetes' controllers do with namespaces and definitions, for the API server in memory."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.unit.kubernetes_resource.api_server import ApiServer

Json = dict[str, Any]
DELETED_AT = "2026-11-21T09:00:00Z"
CLAIM_PROTECTION, VOLUME_PROTECTION = "kubernetes.io/pvc-protection", "kubernetes.io/pv-protection"
CLEAN_UP = "customresourcecleanup.apiextensions.k8s.io"


def settle_namespace(server: "ApiServer", live: Json) -> None:
    """Fill a new namespace, and empty one that is being deleted."""
    name = live["metadata"]["name"]
    if not live["metadata"].get("deletionTimestamp"):
        for kind, each in (("ServiceAccount", "default"), ("ConfigMap", "kube-root-ca.crt")):
            if not server.find(kind, each, name):
                server.add(
                    {"apiVersion": "v1", "kind": kind, "metadata": {"name": each, "namespace": name}},
                    "kube-controller-manager",
                )
        return
    inside = [stored.live for key, stored in server.objects.items() if key[2] == name]
    for item in inside:
        item["metadata"]["deletionTimestamp"] = DELETED_AT
    blocked = sorted({each for item in inside for each in item["metadata"].get("finalizers") or ()})
    message = f"Some content in the namespace has finalizers remaining: {', '.join(blocked)}"
    condition = {"type": "NamespaceFinalizersRemaining", "status": "True", "message": message}
    live["status"] = {"phase": "Terminating", "conditions": [condition] if blocked else []}
    if not inside:
        drop(live["metadata"], "kubernetes")


def settle_definition(server: "ApiServer", live: Json) -> None:
    """Serve what a definition defines, or delete it with its objects."""
    group, names = live["spec"]["group"], live["spec"]["names"]
    if live["metadata"].get("deletionTimestamp"):
        for key in [each for each in server.objects if each[:2] == (group, names["plural"])]:
            del server.objects[key]
        drop(live["metadata"], CLEAN_UP)
    elif server.definitions_take_effect:
        live["status"] = {"conditions": [{"type": "Established", "status": "True"}]}
        for version in live["spec"]["versions"]:
            server.served.pop(f"{group}/{version['name']}", None)
            if version["served"]:
                kinds = [(names["kind"], names["plural"], live["spec"]["scope"] == "Namespaced")]
                server.served[f"{group}/{version['name']}"] = kinds


def settle_claim(server: "ApiServer", live: Json) -> None:
    """Protect a claim and bind its volume; end the protection when it is deleted and no pod names it."""
    space, name = live["metadata"]["namespace"], live["metadata"]["name"]
    if not live["metadata"].get("deletionTimestamp"):
        add(live["metadata"], CLAIM_PROTECTION)
        volume = server.find("PersistentVolume", live["spec"]["volumeName"])
        if volume and not volume["spec"]["claimRef"].get("uid"):
            volume["spec"]["claimRef"]["uid"] = live["metadata"]["uid"]
        return
    pods = [stored.live for key, stored in server.objects.items() if key[1:3] == ("pods", space)]
    if not any(name == each["persistentVolumeClaim"]["claimName"] for pod in pods for each in pod["spec"]["volumes"]):
        drop(live["metadata"], CLAIM_PROTECTION)


def settle_volume(server: "ApiServer", live: Json) -> None:
    """Protect a volume until its claim is gone."""
    bound = live["spec"]["claimRef"]
    if not live["metadata"].get("deletionTimestamp"):
        add(live["metadata"], VOLUME_PROTECTION)
    elif not server.find("PersistentVolumeClaim", bound["name"], bound["namespace"]):
        drop(live["metadata"], VOLUME_PROTECTION)


def add(metadata: Json, finalizer: str) -> None:
    """Add a finalizer."""
    if finalizer not in (metadata.get("finalizers") or ()):
        metadata["finalizers"] = [*(metadata.get("finalizers") or ()), finalizer]


def drop(metadata: Json, finalizer: str) -> None:
    """Remove a finalizer."""
    if finalizer in (metadata.get("finalizers") or ()):
        metadata["finalizers"] = [each for each in metadata["finalizers"] if each != finalizer]
