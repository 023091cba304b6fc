"""The pods of add-ons: DaemonSets and Deployments, with their replicas."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from cluster_request.eks_addons import Addon
from config.eks import AddonName
from config.instance_types import NEURON_DEVICES, NVIDIA_GPUS, accelerator


class Workload(NamedTuple):
    """A DaemonSet of an add-on, or a Deployment, which has replicas; ``section`` of the add-on's settings is about it."""

    name: str
    replicas: int = 0
    section: str = ""
    on: str | None = None

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
        *(Workload("fluent-bit", 0, "containerLogs"), Workload("dcgm-exporter", 0, "dcgmExporter", NVIDIA_GPUS)),
        Workload("neuron-monitor", 0, "neuronMonitor", NEURON_DEVICES),
    ),
    AddonName.TRAINING_OPERATOR: (Workload("controller-manager", 1),),
    AddonName.TASK_GOVERNANCE: (Workload("kueue-controller-manager", 1),),
}


def pods_of(addon: Addon, type_name: str = "") -> int:
    """Return the pods of the add-on's Deployments, or those of its DaemonSets on a node of a type."""
    of_kind = (one for one in WORKLOADS[addon.name] if bool(one.replicas) != bool(type_name))
    return sum(one.pods(addon.configuration) for one in of_kind if one.on in (None, accelerator(type_name)))
