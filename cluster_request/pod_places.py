"""Count the pods that nodes can run, and those of HyperPod's objects and of add-ons."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from cluster_request.effective_request import EffectiveRequest, GroupMember
from cluster_request.eks_addons import Addon, addons_after_nodes, addons_before_nodes
from cluster_request.kubernetes_objects.dependencies import dependencies, node_types
from config.eks import AddonName
from config.instance_types import Accelerator, accelerator


class Workload(NamedTuple):
    """A DaemonSet of an add-on, or a Deployment, which has replicas; ``section`` of the add-on's settings is about it."""

    name: str
    replicas: int = 0
    section: str = ""
    on: Accelerator | None = None

    def pods(self, configuration: Mapping[str, Any]) -> int:
        """Return the pods of the Deployment, or of the DaemonSet on each node."""
        settings = configuration.get(self.section) if self.section else configuration
        given = settings if isinstance(settings, Mapping) else {}
        count = given.get("replicaCount", self.replicas) if self.replicas else 1
        return count if isinstance(count, int) and given.get("enabled") is not False else 0


# Replicas by default: https://docs.aws.amazon.com/eks/latest/userguide/coredns-autoscaling.html, and the manifests in
# aws/eks-charts, cert-manager/cert-manager, kubernetes-sigs/aws-fsx-csi-driver, aws-observability/helm-charts and
# kubernetes-sigs/kueue on https://github.com; EKS runs two of metrics-server.
WORKLOADS: dict[AddonName, tuple[Workload, ...]] = {
    AddonName.VPC_CNI: (Workload("aws-node"),),
    AddonName.KUBE_PROXY: (Workload("kube-proxy"),),
    AddonName.POD_IDENTITY_AGENT: (Workload("eks-pod-identity-agent"),),
    AddonName.COREDNS: (Workload("coredns", 2),),
    AddonName.METRICS_SERVER: (Workload("metrics-server", 2),),
    AddonName.CERT_MANAGER: (Workload("controller", 1), *(Workload(name, 1, name) for name in ("cainjector", "webhook"))),
    AddonName.FSX_CSI_DRIVER: (Workload("fsx-csi-controller", 2, "controller"), Workload("fsx-csi-node")),
    AddonName.CLOUDWATCH_OBSERVABILITY: (
        *(Workload("controller-manager", 1, "manager"), Workload("cloudwatch-agent", 0, "agent")),
        *(Workload("fluent-bit", 0, "containerLogs"), Workload("dcgm-exporter", 0, "dcgmExporter", Accelerator.NVIDIA)),
        Workload("neuron-monitor", 0, "neuronMonitor", Accelerator.NEURON),
    ),
    AddonName.TRAINING_OPERATOR: (Workload("controller-manager", 1),),
    AddonName.TASK_GOVERNANCE: (Workload("kueue-controller-manager", 1),),
}


class GroupPlaces(NamedTuple):
    """The places for pods on a node of a group, and the pods of DaemonSets on it."""

    group: GroupMember
    type_name: str
    places: int
    daemons: int

    @property
    def left(self) -> int:
        """Return the places of all nodes that DaemonSets leave."""
        return self.group.group.instance_count * max(self.places - self.daemons, 0)

    def accepts(self, addon: Addon) -> bool:
        """Return whether the nodes accept the add-on's pods, by the taints and labels of the request."""
        kubernetes, selector = self.group.member("KubernetesConfig"), addon.configuration.get("nodeSelector") or {}
        labels = kubernetes.member("Labels").value or {}
        own = {"sagemaker.amazonaws.com/instance-group-name": self.group.name, "node.kubernetes.io/instance-type": self.type_name}
        if isinstance(selector, Mapping) and isinstance(labels, Mapping) and not selector.items() <= {**labels, **own}.items():
            return False
        effects = {each.member("Effect").text for each in kubernetes.entries("Taints")}
        return not effects & {"NoSchedule", "NoExecute"} or "tolerations" in json.dumps(addon.configuration)


def counted_places(request: EffectiveRequest) -> tuple[list[Addon], list[GroupPlaces]]:
    """Return the add-ons, and for each group the places on a node of the type that leaves the fewest; none for unknown types."""
    addons = [*addons_before_nodes(request.config), *addons_after_nodes(request.config)]
    objects = dependencies("us-east-1", (), node_types(request.config))  # in each Region, for the same types
    own = str([each["spec"]["template"]["spec"]["affinity"] for each in objects if each["kind"] == "DaemonSet"])
    found = []
    for group in request.groups:
        places = [
            GroupPlaces(group, name, known.pods, own.count(f"'{name}'") + _daemons(addons, name))
            for name, known in group.known_types().items()
        ]
        if len(places) < len(group.type_names()):
            return addons, []
        found.append(min(places, key=lambda each: each.places - each.daemons))
    return addons, found


def replicas(addon: Addon) -> int:
    """Return the pods of the add-on's Deployments."""
    return sum(each.pods(addon.configuration) for each in WORKLOADS[addon.name] if each.replicas)


def _daemons(addons: Sequence[Addon], type_name: str) -> int:
    """Return the pods of the add-ons' DaemonSets on a node of this type."""
    daemons = ((each, addon) for addon in addons for each in WORKLOADS[addon.name] if not each.replicas)
    return sum(each.pods(addon.configuration) for each, addon in daemons if each.on in (None, accelerator(type_name)))
