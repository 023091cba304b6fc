"""Placeholders for the pods of add-ons: one sleeping process each, in as many places as the real ones have."""

import json
from contextlib import suppress
from typing import Any

from cluster_request.eks_addons import CRITICAL, Workload, workloads
from cluster_request.kubernetes_objects.builders import on_instance_types
from config.instance_types import accelerator, listed_types
from local_aws.eks.control_planes import ControlPlaneError, Request, programs
from local_aws.eks.model import Addon, Cluster
from local_aws.json_service import Json

_LABEL = "eks.amazonaws.com/component"
_ANY = {"operator": "Exists"}


def install(cluster: Cluster, addon: Addon) -> None:
    """Create the DaemonSets and Deployments of an add-on again, with its present settings."""
    remove(cluster, addon)
    settings = json.loads(addon.settings.get("configurationValues") or "{}")
    name = addon.settings["namespaceConfig"]["namespace"]
    _call(cluster, "POST", "/api/v1/namespaces", {"metadata": {"name": name}})
    for one in workloads(addon.name):
        if one.pods(settings):
            _call(cluster, "POST", _collection(addon, one), _object(addon, one, settings))


def remove(cluster: Cluster, addon: Addon) -> None:
    """Delete the DaemonSets and Deployments of an add-on with their pods."""
    for one in workloads(addon.name):
        _call(cluster, "DELETE", f"{_collection(addon, one)}/{one.name}", {"propagationPolicy": "Background"})


def without_place(cluster: Cluster, addon: Addon) -> bool:
    """Return whether a pod of the add-on has no node, or a Deployment lacks a pod."""
    space, selector = addon.settings["namespaceConfig"]["namespace"], f"labelSelector={_LABEL}%3D{addon.name}"
    found = _call(cluster, "GET", f"/apis/apps/v1/namespaces/{space}/deployments?{selector}", None)
    listed = _call(cluster, "GET", f"/api/v1/namespaces/{space}/pods?{selector}", None)
    if found is None or listed is None:
        return False
    names = tuple(f"{item['metadata']['name']}-" for item in found["items"])
    pods = [pod for pod in listed["items"] if pod["metadata"]["name"].startswith(names)]
    has_place = all(pod["spec"].get("nodeName") for pod in listed["items"])
    return not has_place or len(pods) < sum(int(item["spec"]["replicas"]) for item in found["items"])


def _collection(addon: Addon, one: Workload) -> str:
    kind = "deployments" if one.replicas else "daemonsets"
    return f"/apis/apps/v1/namespaces/{addon.settings['namespaceConfig']['namespace']}/{kind}"


def _object(addon: Addon, one: Workload, settings: Json) -> Json:
    section: Any = settings.get(one.section) if one.section else None
    given = (section if isinstance(section, dict) else {}).get("tolerations") or settings.get("tolerations") or [CRITICAL]
    accelerated = [name for name in listed_types() if accelerator(name) is one.on]
    container = {"name": "pause", "image": "localhost/pause:1", "command": ["/usr/bin/sleep", "infinity"]}
    pod = {
        "containers": [container],
        "hostNetwork": True,
        "terminationGracePeriodSeconds": 0,
        "tolerations": given if one.replicas else [_ANY],
        "nodeSelector": settings.get("nodeSelector") or {},
        **({"affinity": on_instance_types(accelerated)} if one.on else {}),
    }
    labels = {_LABEL: addon.name, "app.kubernetes.io/name": one.name}
    template = {"metadata": {"labels": labels}, "spec": pod}
    count = {"replicas": one.pods(settings)} if one.replicas else {}
    return {
        "metadata": {"name": one.name, "labels": labels},
        "spec": {**count, "selector": {"matchLabels": labels}, "template": template},
    }


def _call(cluster: Cluster, method: str, path: str, body: object) -> Any:
    """Return the content of a successful response; None where an object exists already, or the API server does not answer."""
    with suppress(ControlPlaneError):
        status, content = programs().call(cluster.plane, Request(method, path, body))
        return content if status < 300 else None
    return None
