"""A node's kubelet: its settings, and how the node joins its EKS cluster.

The node proves who it is by the EKS token of its execution role, which has an access entry of type HYPERPOD_LINUX.
"""

import contextlib
import ipaddress
import json
import time
from typing import Any

from cluster_request.kubernetes_objects import device_plugins
from cluster_request.kubernetes_objects.health_agent import UnknownRegionError, agent_image
from config.instance_types import instance_type
from local_aws.builds.errors import HostError
from local_aws.eks import model as eks
from local_aws.eks.control_planes import ControlPlane
from local_aws.hyperpod.kubernetes.members import Member, members_of
from local_aws.hyperpod.model import Cluster, Node, lock
from local_aws.json_service import Json
from local_aws.kubernetes.commands import API_SERVICE
from local_aws.nodes import support
from local_aws.nodes.agent.machine import Machine
from local_aws.nodes.hub import Hub
from local_aws.nodes.specs import NodeFile

_FOLDER = "/etc/kubernetes"
_PODS = int(ipaddress.ip_address("100.64.0.0"))  # see machines/network.py
_BITS = 6  # of the addresses of a node's pods: 62 pods
_JOIN_S, _POLL_S = 180.0, 0.5
# containerd's skipped plugins have an "error=", too, and systemd announces each new start: both would hide the kubelet's words.
_ERRORS = "grep -E '^(E|F|kubelet)|error' | grep -vE 'level=(info|debug)|^kubelet\\.service: (Consumed|Scheduled)'"


def name_of(node: Node) -> str:
    """Return the node's name in Kubernetes."""
    return f"hyperpod-{node.id}"


def plane_of(cluster: Cluster) -> ControlPlane | None:
    """Return the control plane that the cluster's nodes join; None with Slurm, and on a machine without the kubelet's layer."""
    found = eks.by_arn(cluster.eks_arn) if cluster.eks_arn else None
    plane: Any = found.plane if found else None
    return plane if support.kubelet() else None


def endpoint_for_nodes(plane: Any) -> str:
    """Return the API server's own URL, which nodes reach whatever access people have."""
    return str(plane.admin_client().endpoint)


def eks_cluster(cluster: Cluster) -> eks.Cluster:
    """Return the EKS cluster that orchestrates a cluster."""
    found = eks.by_arn(cluster.eks_arn)
    if found is None or found.plane is None:
        raise HostError(f"EKS cluster {cluster.eks_arn} has no control plane")
    return found


def member_of(cluster: Cluster, node: Node) -> Member:
    """Return the node as HyperPod shows it in Kubernetes."""
    with lock:
        return next(member for member in members_of(cluster) if member.id == node.id)


def files(cluster: Cluster, node: Node, resolver: str) -> dict[str, NodeFile]:
    """Return the files with which the kubelet joins the EKS cluster."""
    found = eks_cluster(cluster)
    texts = {
        f"{_FOLDER}/ca.crt": client_of(found).authority.read_text(),
        f"{_FOLDER}/kubeconfig": json.dumps(_kubeconfig(found)),  # JSON is YAML
        f"{_FOLDER}/devices.json": json.dumps(_devices(node.type)),
        f"{_FOLDER}/images": "".join(f"{local} {name}\n" for name, local in _images(cluster.region).items()),
        f"{_FOLDER}/kubelet.yaml": json.dumps(_settings(node, resolver)),
        f"{_FOLDER}/options": "\n".join(_options(member_of(cluster, node))) + "\n",
        "/etc/cni/net.d/10-vpc.conflist": json.dumps(_network(node)),
    }
    return {path: NodeFile(text.encode()) for path, text in texts.items()}


def join(hub: Hub, machine: Machine) -> None:
    """Start the kubelet, and wait until the node is ready."""
    node, found = machine.launch.node, eks_cluster(machine.launch.cluster)
    if hub.run(node.id, "systemctl", "enable", "--now", "kubelet"):
        raise HostError("kubelet.service did not start")
    client, end = client_of(found), time.monotonic() + _JOIN_S
    path = f"/api/v1/nodes/{name_of(node)}"
    while not _is_ready(client, path):
        if not machine.is_wanted:
            raise HostError(f"node {machine.id} was stopped while it joined")
        if time.monotonic() > end:
            raise HostError(f"the node did not join EKS cluster {found.name}: {_last_words(hub, node)}")
        time.sleep(_POLL_S)


def client_of(cluster: eks.Cluster) -> Any:
    """Return an administrator's client of the cluster's API server."""
    plane: Any = cluster.plane
    return plane.admin_client()


def leave(cluster: Cluster, node: Node) -> None:
    """Delete the node's object, if it exists and the API server still runs."""
    with contextlib.suppress(OSError, HostError):
        client_of(eks_cluster(cluster)).call("DELETE", f"/api/v1/nodes/{name_of(node)}")


def _is_ready(client: Any, path: str) -> bool:
    try:
        found = client.call("GET", path)
    except OSError:
        return False
    conditions = found.content["status"].get("conditions", []) if found.status == 200 else []
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def _devices(type_name: str) -> dict[str, int]:
    """Return the devices of an instance type, which the device plugins in pods offer."""
    facts = instance_type(type_name)
    if facts is None:
        return {}
    return {
        "nvidia.com/gpu": facts.gpus,
        "vpc.amazonaws.com/efa": facts.efa_interfaces,
        "aws.amazon.com/neuron": facts.neuron_devices,
    }


def _images(region: str) -> dict[str, str]:
    """Return the images of registries that HyperPod's dependencies name, with the local image in the place of each."""
    found = {
        device_plugins.NVIDIA_IMAGE: "localhost/nvidia-plugin:1",
        device_plugins.efa_image(region): "localhost/efa-plugin:1",
        device_plugins.NEURON_IMAGE: "localhost/neuron-plugin:1",
    }
    with contextlib.suppress(UnknownRegionError):
        found[agent_image(region)] = "localhost/health-agent:1"
    return found


def _last_words(hub: Hub, node: Node) -> str:
    lines: list[str] = []
    command = f"journalctl --unit=kubelet --output=cat --lines=400 | {_ERRORS} | tail -n 5"
    hub.run(node.id, "sh", "-c", command, on_line=lines.append)
    return " | ".join(lines) or "see `journalctl --unit=kubelet` on the node"


def _kubeconfig(cluster: eks.Cluster) -> Json:
    # The token names STS by its public host, and is made without a call: no endpoint of the embedded AWS may be in it.
    command = {
        "apiVersion": "client.authentication.k8s.io/v1beta1",
        "command": "aws",
        "args": ["--region", cluster.region, "eks", "get-token", "--cluster-name", cluster.name],
        "env": [{"name": "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "value": "true"}, {"name": "HOME", "value": "/root"}],
    }
    server = {"server": f"https://{API_SERVICE}", "certificate-authority": f"{_FOLDER}/ca.crt"}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "eks", "cluster": server}],
        "users": [{"name": "node", "user": {"exec": command}}],
        "contexts": [{"name": "eks", "context": {"cluster": "eks", "user": "node"}}],
        "current-context": "eks",
    }


def _settings(node: Node, resolver: str) -> Json:
    known = instance_type(node.type)
    return {
        **({"maxPods": known.pods} if known else {}),
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "address": node.address,
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True, "cacheTTL": "10s"},
            "x509": {"clientCAFile": f"{_FOLDER}/ca.crt"},
        },
        "authorization": {"mode": "Webhook"},
        "cgroupDriver": "cgroupfs",
        "clusterDNS": [resolver],
        "clusterDomain": "cluster.local",
        "failSwapOn": False,
        "makeIPTablesUtilChains": False,  # there is no kube-proxy, and nodes have no iptables
        "protectKernelDefaults": True,  # the kernel's settings are this machine's: see image/kubernetes/run-kubelet
        "nodeStatusUpdateFrequency": "4s",
        "imageGCHighThresholdPercent": 100,
        "evictionHard": {"memory.available": "100Mi"},
    }


def _options(member: Member) -> list[str]:
    own = {"node.kubernetes.io/instance-type": member.type, "topology.kubernetes.io/region": member.region}
    labels = own | ({"topology.kubernetes.io/zone": member.zone} if member.zone else {}) | member.all_labels
    options = {
        "config": f"{_FOLDER}/kubelet.yaml",
        "kubeconfig": f"{_FOLDER}/kubeconfig",
        "hostname-override": member.name,
        "node-ip": member.address,
        "container-runtime": "remote",
        "container-runtime-endpoint": "unix:///run/containerd/containerd.sock",
        "node-labels": ",".join(f"{key}={value}" for key, value in labels.items()),
        "register-with-taints": ",".join(f"{each['key']}={each['value']}:{each['effect']}" for each in member.all_taints),
    }
    return [f"--{name}={value}" for name, value in options.items() if value]


def _network(node: Node) -> Json:
    """Return the settings of pods' network: a wire to the node for each pod, with an address of the node's own range."""
    first = _PODS + ((int(ipaddress.ip_address(node.address)) & 0xFFFF) << _BITS)
    pods = ipaddress.ip_network((first, 32 - _BITS))
    addresses = {
        "type": "host-local",
        "dataDir": "/run/cni-addresses",
        "ranges": [[{"subnet": str(pods)}]],
        "routes": [{"dst": "0.0.0.0/0"}],
    }
    return {"cniVersion": "0.4.0", "name": "vpc", "plugins": [{"type": "ptp", "ipMasq": False, "ipam": addresses}]}
