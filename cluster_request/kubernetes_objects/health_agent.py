"""Build the health monitoring agent, which reports faulty nodes so that HyperPod replaces them."""

from collections.abc import Iterable

from cluster_request.kubernetes_objects.builders import (
    DATA,
    NAMESPACE,
    Json,
    account,
    daemon_set,
    host_path,
    mount,
    on_instance_types,
    rule,
)
from config.instance_types import NEURON_DEVICES, NVIDIA_GPUS, accelerator, listed_types

NAME = "health-monitoring-agent"
# https://github.com/aws/sagemaker-hyperpod-cli/pull/443 (2026-08-06), the first with g7 and trn2.3xlarge
TAG = "1.0.2297.0_1.0.474.0"
ACCOUNTS: dict[str, str] = DATA["health_agent"]["accounts"]
NEURON_ARGUMENTS = ["--enable-k8s-exporter=false", "--config.system-log-monitor=/config/system-message-monitor.json"]
NEURON_ENVIRONMENT = {"NVIDIA_VISIBLE_DEVICES": "void", "NVIDIA_DRIVER_CAPABILITIES": ""}
# The user and group of the image that may read the node's logs.
USER, GROUP = 1000, 2000


class UnknownRegionError(ValueError):
    """There is no image of the agent in a Region."""


def health_agent(region: str, types: Iterable[str] = ()) -> list[Json]:
    """Return the agent for a Region, on the listed instance types and on these."""
    names = {*listed_types(), *types}
    image = agent_image(region)
    rights = account(
        NAME,
        NAMESPACE,
        rule(["nodes"], ["get"]),
        rule(["nodes", "nodes/status"], ["patch"]),
        rule(["events"], ["create", "patch", "update"], ["", "events.k8s.io"]),
    )
    neuron = f"{NAME}-non-nvidia"
    return [
        *rights,
        daemon_set(NAME, NAMESPACE, _pod(NAME, image, names, NVIDIA_GPUS)),
        daemon_set(neuron, NAMESPACE, _pod(neuron, image, names, NEURON_DEVICES)),
    ]


def agent_image(region: str) -> str:
    """Return the agent's image in a Region."""
    if region not in ACCOUNTS:
        raise UnknownRegionError(f"region: HyperPod has no health monitoring agent in {region}; use one of {', '.join(ACCOUNTS)}")
    return f"{ACCOUNTS[region]}.dkr.ecr.{region}.amazonaws.com/hyperpod-health-monitoring-agent:{TAG}"


def _pod(name: str, image: str, types: Iterable[str], kind: str) -> Json:
    is_neuron = kind == NEURON_DEVICES
    size = {"cpu": "500m", "memory": "512Mi"}
    fields = {"NODE_NAME": "spec.nodeName", "NODE_IP": "status.hostIP"}
    container = {
        "name": name,
        "image": image,
        **({"args": NEURON_ARGUMENTS} if is_neuron else {}),
        "env": [
            *({"name": key, "valueFrom": {"fieldRef": {"fieldPath": path}}} for key, path in fields.items()),
            *({"name": key, "value": value} for key, value in (NEURON_ENVIRONMENT if is_neuron else {}).items()),
        ],
        "resources": {"limits": size, "requests": size},
        "securityContext": {"runAsUser": USER, "runAsGroup": GROUP},
        "volumeMounts": [
            mount("log", "/var/log"),
            mount("kmsg", "/dev/kmsg", read_only=True),
            mount("localtime", "/etc/localtime", read_only=True),
        ],
    }
    return {
        "affinity": on_instance_types(each for each in types if accelerator(each) == kind),
        "containers": [container],
        "serviceAccountName": NAME,
        # It must run on the nodes that HyperPod marks as faulty.
        "tolerations": [{"operator": "Exists", "effect": effect} for effect in ("NoSchedule", "NoExecute")],
        "volumes": [host_path("log", "/var/log"), host_path("kmsg", "/dev/kmsg"), host_path("localtime", "/etc/localtime")],
    }
