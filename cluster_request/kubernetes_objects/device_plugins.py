"""Build the device plugins, which let pods request GPUs, Neuron devices and EFA interfaces."""

from collections.abc import Iterable, Mapping

from cluster_request.kubernetes_objects.builders import DATA, Json, account, daemon_set, host_path, mount, on_instance_types, rule
from config.instance_group import Taint, TaintEffect
from config.instance_types import NEURON_DEVICES, NVIDIA_GPUS, accelerator, instance_type, listed_types

SPACE = "kube-system"
PLUGINS = "/var/lib/kubelet/device-plugins"
# values.yaml of the chart: nvidia-device-plugin 0.16.1 of https://nvidia.github.io/k8s-device-plugin
NVIDIA_IMAGE = "nvcr.io/nvidia/k8s-device-plugin:v0.16.1"
# values.yaml of the chart: aws-efa-k8s-device-plugin 0.5.20 of https://aws.github.io/eks-charts
EFA_TAG = "v0.5.20"
# values.yaml of the chart: neuron-device-plugin
NEURON_IMAGE = "public.ecr.aws/neuron/neuron-device-plugin:2.19.16.0"
NEURON = "neuron-device-plugin"
UNSCHEDULABLE = {
    "key": "sagemaker.amazonaws.com/node-health-status",
    "operator": "Equal",
    "value": "Unschedulable",
    "effect": "NoSchedule",
}
"""HyperPod's taint of a node in its deep health check, whose pods need the devices."""


def device_plugins(region: str, taints: Iterable[Taint] = (), types: Mapping[str, bool] = {}) -> list[Json]:
    """Return the plugins for a Region, on listed types and on these (true: with EFA); they tolerate the taints of nodes."""
    tolerated, kinds = tolerations(taints), {name: accelerator(name) for name in (*listed_types(), *types)}
    nvidia, neuron = ([name for name in kinds if kinds[name] == kind] for kind in (NVIDIA_GPUS, NEURON_DEVICES))
    efa = [name for name in kinds if has_efa(name, types)]
    return [
        daemon_set("nvidia-device-plugin", SPACE, _on_types(_nvidia(), nvidia, tolerated)),
        daemon_set("aws-efa-k8s-device-plugin", SPACE, _on_types(_efa(region), efa, tolerated)),
        *_neuron_rights(),
        daemon_set(NEURON, SPACE, _on_types(_neuron(), neuron, tolerated)),
    ]


def has_efa(name: str, types: Mapping[str, bool]) -> bool:
    """Return whether a type has EFA, by its properties or by those of ``types``."""
    known = instance_type(name)
    return known.efa_interfaces > 0 if known else name in DATA["efa_types"]["types"] or types.get(name, False)


def tolerations(taints: Iterable[Taint]) -> list[Json]:
    """Return a toleration for each taint that keeps pods away."""
    found = {
        (each.key, each.value or "", each.effect.value) for each in taints if each.effect is not TaintEffect.PREFER_NO_SCHEDULE
    }
    return [
        {"key": key, "operator": "Equal", "value": value, "effect": effect}
        if value
        else {"key": key, "operator": "Exists", "effect": effect}
        for key, value, effect in sorted(found)
    ]


def efa_image(region: str) -> str:
    """Return the EFA plugin's image in a Region."""
    accounts = DATA["efa_plugin"]["accounts"]
    return f"{accounts.get(region, accounts['default'])}.dkr.ecr.{region}.amazonaws.com/eks/aws-efa-k8s-device-plugin:{EFA_TAG}"


def _nvidia() -> Json:
    container = {
        "name": "nvidia-device-plugin",
        "image": NVIDIA_IMAGE,
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
        "volumeMounts": [mount("plugins", PLUGINS)],
    }
    return _pod(container, [host_path("plugins", PLUGINS)], "nvidia.com/gpu")


def _neuron() -> Json:
    container = {
        "name": NEURON,
        "image": NEURON_IMAGE,
        "env": [
            {"name": "KUBECONFIG", "value": "/etc/kubernetes/kubelet.conf"},
            {"name": "NODE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
        ],
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
        "volumeMounts": [mount("plugins", PLUGINS), mount("run", "/run")],
    }
    volumes = [host_path("plugins", PLUGINS), host_path("run", "/run")]
    return {**_pod(container, volumes, "aws.amazon.com/neuron"), "serviceAccountName": NEURON}


def _neuron_rights() -> list[Json]:
    """Return what lets the Neuron plugin write the devices of a pod into its annotations."""
    # https://github.com/aws-neuron/aws-neuron-sdk: src/k8/k8s-neuron-device-plugin-rbac.yml
    return account(
        NEURON,
        SPACE,
        rule(["nodes"], ["get", "list", "watch"]),
        rule(["events"], ["create", "patch"]),
        rule(["pods"], ["get", "list", "patch", "update", "watch"]),
        rule(["nodes/status"], ["patch", "update"]),
    )


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
    return {
        "containers": [container],
        "priorityClassName": "system-node-critical",
        "tolerations": [{"key": taint, "operator": "Exists", "effect": "NoSchedule"}, UNSCHEDULABLE],
        "volumes": volumes,
    }


def _on_types(pod: Json, names: Iterable[str], tolerated: list[Json]) -> Json:
    """Return the pod for these instance types, with more tolerations."""
    more = [each for each in tolerated if each not in pod["tolerations"]]
    return {**pod, "affinity": on_instance_types(names), "tolerations": [*pod["tolerations"], *more]}
