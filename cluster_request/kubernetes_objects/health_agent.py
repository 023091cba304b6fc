"""Build the health monitoring agent, which reports faulty nodes so that HyperPod replaces them."""

from cluster_request.kubernetes_objects.builders import (
    NAMESPACE,
    Json,
    binding_to_account,
    cluster_role,
    daemon_set,
    host_path,
    mount,
    on_instance_types,
    rule,
    service_account,
)
from config.instance_types import instance_type, listed_types

NAME = "health-monitoring-agent"
# charts/health-monitoring-agent/values.yaml
TAG = "1.0.1892.0_1.0.424.0"
# charts/health-monitoring-agent/templates/_helpers.tpl, which takes the image of us-east-1 in other Regions.
ACCOUNTS = {
    "ap-northeast-1": "533267052152",
    "ap-south-1": "011528288864",
    "ap-southeast-1": "905418428165",
    "ap-southeast-2": "851725636348",
    "ap-southeast-3": "971422672635",
    "ap-southeast-4": "084375568333",
    "ca-central-1": "843976229209",
    "eu-central-1": "211125453373",
    "eu-north-1": "654654141839",
    "eu-south-2": "626887787726",
    "eu-west-1": "533267293120",
    "eu-west-2": "011528288831",
    "sa-east-1": "025066253954",
    "us-east-1": "767398015722",
    "us-east-2": "851725546812",
    "us-west-1": "011528288828",
    "us-west-2": "905418368575",
}
# The chart's lists of instance types, by family.
NVIDIA = ("g5", "g6", "g6e", "g7e", "gr6", "p4d", "p4de", "p5", "p5e", "p5en", "p6-b200", "p6-b300", "p6e-gb200")
NEURON = ("inf2", "trn1", "trn1n", "trn2")
NEURON_ARGUMENTS = ["--enable-k8s-exporter=false", "--config.system-log-monitor=/config/system-message-monitor.json"]
NEURON_ENVIRONMENT = {"NVIDIA_VISIBLE_DEVICES": "void", "NVIDIA_DRIVER_CAPABILITIES": ""}
# The user and group of the image that may read the node's logs.
USER, GROUP = 1000, 2000


class UnknownRegionError(ValueError):
    """There is no image of the agent in a Region."""


def health_agent(region: str) -> list[Json]:
    """Return the agent for a Region."""
    image = agent_image(region)
    role = cluster_role(
        NAME,
        rule(["nodes"], ["get"]),
        rule(["nodes", "nodes/status"], ["patch"]),
        rule(["events"], ["create", "patch", "update"], ["", "events.k8s.io"]),
    )
    neuron = f"{NAME}-non-nvidia"
    return [
        service_account(NAME),
        role,
        binding_to_account(NAME),
        daemon_set(NAME, NAMESPACE, _pod(NAME, image, NVIDIA)),
        daemon_set(neuron, NAMESPACE, _pod(neuron, image, NEURON, NEURON_ARGUMENTS, NEURON_ENVIRONMENT)),
    ]


def agent_image(region: str) -> str:
    """Return the agent's image in a Region."""
    if region not in ACCOUNTS:
        raise UnknownRegionError(f"region: HyperPod has no health monitoring agent in {region}; use one of {', '.join(ACCOUNTS)}")
    return f"{ACCOUNTS[region]}.dkr.ecr.{region}.amazonaws.com/hyperpod-health-monitoring-agent:{TAG}"


def _pod(
    name: str,
    image: str,
    families: tuple[str, ...],
    arguments: list[str] | None = None,
    environment: dict[str, str] | None = None,
) -> Json:
    size = {"cpu": "500m", "memory": "512Mi"}
    fields = {"NODE_NAME": "spec.nodeName", "NODE_IP": "status.hostIP"}
    container = {
        "name": name,
        "image": image,
        **({"args": arguments} if arguments else {}),
        "env": [
            *({"name": key, "valueFrom": {"fieldRef": {"fieldPath": path}}} for key, path in fields.items()),
            *({"name": key, "value": value} for key, value in (environment or {}).items()),
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
        "affinity": on_instance_types(_types_of(families)),
        "containers": [container],
        "serviceAccountName": NAME,
        # It must run on the nodes that HyperPod marks as faulty.
        "tolerations": [{"operator": "Exists", "effect": effect} for effect in ("NoSchedule", "NoExecute")],
        "volumes": [host_path("log", "/var/log"), host_path("kmsg", "/dev/kmsg"), host_path("localtime", "/etc/localtime")],
    }


def _types_of(families: tuple[str, ...]) -> list[str]:
    """Return HyperPod's instance types of the families; those without facts are accelerated too."""
    return [name for name in listed_types() if name.split(".")[1] in families and _is_accelerated(name)]


def _is_accelerated(name: str) -> bool:
    known = instance_type(name)
    return known is None or bool(known.gpus or known.neuron_devices)
