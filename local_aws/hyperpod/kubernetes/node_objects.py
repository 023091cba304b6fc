"""Objects of a node without a kubelet: Node, Lease and what a kubelet reports, from EC2's facts about the instance type."""

from collections.abc import Iterable
from datetime import UTC, datetime

from config.instance_types import InstanceType, instance_type
from local_aws.host_names import private_dns_name
from local_aws.hyperpod.kubernetes.members import Member
from local_aws.json_service import Json

NODES, LEASES = "/api/v1/nodes", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
_PLUGINS_FOLDER = "/var/lib/kubelet/device-plugins"
_SILENT = "the embedded AWS runs no kubelet on this node: pods stay Pending"


def node(member: Member) -> Json:
    """Return the node as its kubelet would register it."""
    facts = instance_type(member.type)
    labels = {
        "kubernetes.io/arch": _architecture(facts),
        "kubernetes.io/hostname": member.name,
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": member.type,
        "beta.kubernetes.io/instance-type": member.type,
        "topology.kubernetes.io/region": member.region,
        **({"topology.kubernetes.io/zone": member.zone} if member.zone else {}),
        **member.all_labels,
    }
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": member.name, "labels": labels},
        "spec": {
            "providerID": f"aws:///{member.zone}/sagemaker/cluster/hyperpod-{member.cluster_id}-{member.id}",
            "taints": member.all_taints,
        },
        "status": status(member, {}),
    }


def status(member: Member, devices: dict[str, str]) -> Json:
    """Return the status of the node, with what device plugins offer."""
    facts = instance_type(member.type)
    capacity = {**_capacity(facts), **devices}
    addresses = [{"type": "InternalIP", "address": member.address}] if member.address else []
    dns = [{"type": "InternalDNS", "address": private_dns_name(member.address, member.region)}] if member.address else []
    info = {
        "architecture": _architecture(facts),
        "operatingSystem": "linux",
        "osImage": _SILENT,
        **dict.fromkeys(
            (
                "bootID",
                "containerRuntimeVersion",
                "kernelVersion",
                "kubeProxyVersion",
                "kubeletVersion",
                "machineID",
                "systemUUID",
            ),
            "",
        ),
    }
    return {
        "addresses": [*addresses, *dns, {"type": "Hostname", "address": member.name}],
        "capacity": capacity,
        "allocatable": capacity,
        "conditions": conditions(member),
        "nodeInfo": info,
    }


def conditions(member: Member) -> list[Json]:
    """Return the conditions of the node."""
    pressures = [("MemoryPressure", "KubeletHasSufficientMemory"), ("DiskPressure", "KubeletHasNoDiskPressure")]
    found = [_condition(kind, "False", reason) for kind, reason in (*pressures, ("PIDPressure", "KubeletHasSufficientPID"))]
    if member.is_up:
        return [*found, _condition("Ready", "True", "KubeletReady")]
    return [*found, _condition("Ready", "False", "KubeletNotReady")]


def _condition(kind: str, value: str, reason: str) -> Json:
    return {"type": kind, "status": value, "reason": reason, "message": _SILENT, **dict.fromkeys(_TIMES, _now())}


_TIMES = ("lastHeartbeatTime", "lastTransitionTime")


def is_ready(found: Json) -> bool:
    """Return whether a Node is Ready."""
    listed = (found.get("status") or {}).get("conditions") or ()
    return any(condition["type"] == "Ready" and condition["status"] == "True" for condition in listed)


def lease(member: Member) -> Json:
    """Return the lease with which a node shows that it is alive."""
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": member.name, "namespace": "kube-node-lease"},
        "spec": {"holderIdentity": member.name, "leaseDurationSeconds": 40, "renewTime": _now(micro=True)},
    }


def event(member: Member, reason: str, message: str) -> Json:
    """Return an event about the node."""
    kind = "Warning" if reason.endswith(("Failed", "Requested")) else "Normal"
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"generateName": f"{member.name}.", "namespace": "default"},
        "involvedObject": {"apiVersion": "v1", "kind": "Node", "name": member.name, "uid": member.name},
        "reason": reason,
        "message": message,
        "type": kind,
        "source": {"component": "sagemaker-hyperpod"},
        "count": 1,
        **dict.fromkeys(("firstTimestamp", "lastTimestamp"), _now()),
    }


def devices(member: Member, pods: Iterable[Json]) -> dict[str, str]:
    """Return what the device plugins among a node's pods would offer, if they ran: none without a plugin."""
    facts = instance_type(member.type)
    if facts is None:
        return {}
    images = " ".join(_plugin_images(pods))
    offered = {
        "nvidia.com/gpu": facts.gpus if "nvidia" in images else 0,
        "vpc.amazonaws.com/efa": facts.efa_interfaces if "efa-" in images else 0,
        "aws.amazon.com/neuron": facts.neuron_devices if "neuron" in images else 0,
    }
    return {name: str(count) for name, count in offered.items() if count}


def _plugin_images(pods: Iterable[Json]) -> Iterable[str]:
    for pod in pods:
        folders = [(volume.get("hostPath") or {}).get("path", "") for volume in pod["spec"].get("volumes") or ()]
        if any(path.rstrip("/") == _PLUGINS_FOLDER for path in folders):
            yield from (container["image"] for container in pod["spec"]["containers"])


def _capacity(facts: InstanceType | None) -> dict[str, str]:
    if facts is None:
        return {"cpu": "1", "memory": "1Gi", "pods": "10"}
    return {
        "cpu": str(facts.vcpus),
        "memory": f"{facts.memory_mib}Mi",
        "pods": str(facts.pods),
        "ephemeral-storage": "100Gi",
    }


def _architecture(facts: InstanceType | None) -> str:
    return "arm64" if facts and facts.architecture == "arm64" else "amd64"


def _now(*, micro: bool = False) -> str:
    form = "%Y-%m-%dT%H:%M:%S.%fZ" if micro else "%Y-%m-%dT%H:%M:%SZ"
    return datetime.now(UTC).strftime(form)
