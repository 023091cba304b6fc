"""Build the device plugins, which let pods request GPUs and EFA interfaces."""

from cluster_request.kubernetes_objects.builders import Json, daemon_set, host_path, mount, on_instance_types
from config.instance_types import instance_type, listed_types

SPACE = "kube-system"
PLUGINS = "/var/lib/kubelet/device-plugins"
# values.yaml of the chart: nvidia-device-plugin 0.16.1 of https://nvidia.github.io/k8s-device-plugin
NVIDIA_IMAGE = "nvcr.io/nvidia/k8s-device-plugin:v0.16.1"
# values.yaml of the chart: aws-efa-k8s-device-plugin 0.5.20 of https://aws.github.io/eks-charts
EFA_TAG = "v0.5.20"
# Registries of EKS: https://docs.aws.amazon.com/eks/latest/userguide/add-ons-images.html
EKS_ACCOUNT = "602401143452"
EKS_ACCOUNTS = {"ap-southeast-3": "296578399912", "ap-southeast-4": "491585149902", "eu-south-2": "455263428931"}
UNSCHEDULABLE = {
    "key": "sagemaker.amazonaws.com/node-health-status",
    "operator": "Equal",
    "value": "Unschedulable",
    "effect": "NoSchedule",
}
"""HyperPod's taint of a node in its deep health check, whose pods need the devices."""


def device_plugins(region: str) -> list[Json]:
    """Return the device plugins for a Region."""
    gpus = [name for name in listed_types() if (known := instance_type(name)) and known.gpus]
    efa = [name for name in listed_types() if (known := instance_type(name)) and known.efa_interfaces]
    return [
        daemon_set("nvidia-device-plugin", SPACE, {**_nvidia(), "affinity": on_instance_types(gpus)}),
        daemon_set("aws-efa-k8s-device-plugin", SPACE, {**_efa(region), "affinity": on_instance_types(efa)}),
    ]


def efa_image(region: str) -> str:
    """Return the EFA plugin's image in a Region."""
    account = EKS_ACCOUNTS.get(region, EKS_ACCOUNT)
    return f"{account}.dkr.ecr.{region}.amazonaws.com/eks/aws-efa-k8s-device-plugin:{EFA_TAG}"


def _nvidia() -> Json:
    container = {
        "name": "nvidia-device-plugin",
        "image": NVIDIA_IMAGE,
        "env": [{"name": "NVIDIA_MIG_MONITOR_DEVICES", "value": "all"}],
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
        "volumeMounts": [mount("plugins", PLUGINS)],
    }
    return _pod(container, [host_path("plugins", PLUGINS)], "nvidia.com/gpu")


def _efa(region: str) -> Json:
    container = {
        "name": "aws-efa-k8s-device-plugin",
        "image": efa_image(region),
        "securityContext": {"privileged": True},
        "volumeMounts": [mount("plugins", PLUGINS), mount("infiniband", "/dev/infiniband/"), mount("neuron", "/opt/aws/neuron")],
    }
    volumes = [
        host_path("plugins", PLUGINS),
        host_path("infiniband", "/dev/infiniband/", "DirectoryOrCreate"),
        host_path("neuron", "/opt/aws/neuron", "DirectoryOrCreate"),
    ]
    return {**_pod(container, volumes, "aws.amazon.com/efa"), "hostNetwork": True}


def _pod(container: Json, volumes: list[Json], taint: str) -> Json:
    tolerations = [{"key": taint, "operator": "Exists", "effect": "NoSchedule"}, UNSCHEDULABLE]
    return {
        "containers": [container],
        "priorityClassName": "system-node-critical",
        "tolerations": tolerations,
        "volumes": volumes,
    }
