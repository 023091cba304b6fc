"""Choose the EKS add-ons of a file, their versions and settings, and count their pods."""

import json
from collections.abc import Mapping
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from cluster_request.effective_request import EffectiveRequest
from cluster_request.kubernetes_objects.device_plugins import tolerations
from cluster_request.quotas import has_task_governance
from cluster_request.request import merged
from config.eks import AddonConfig, AddonName, EksConfig
from config.instance_types import accelerator
from config.model import ClusterConfig

TABLE = Path(__file__).parents[1] / "config" / "data" / "eks_addons.json"
BEFORE_NODES = (AddonName.VPC_CNI, AddonName.KUBE_PROXY, AddonName.POD_IDENTITY_AGENT)
"""Add-ons that are healthy without nodes, and that nodes need to become ready."""

CRITICAL = {"key": "CriticalAddonsOnly", "operator": "Exists"}
"""Usual for add-ons: `tolerations` replaces their defaults."""


class Addon(NamedTuple):
    """An add-on of the EKS cluster; without a version, EKS chooses one."""

    name: AddonName
    version: str | None
    configuration: dict[str, Any]

    @property
    def configuration_values(self) -> str:
        """Return the settings as the text that EKS takes; without any, `{}`, which resets those of an earlier deployment.

        EKS keeps them if CloudFormation's property is removed: issue 1913 of aws-cloudformation/cloudformation-coverage-roadmap.
        """
        return json.dumps(self.configuration, sort_keys=True)


class Workload(NamedTuple):
    """A DaemonSet of an add-on, or a Deployment, which has replicas; ``section`` of the add-on's settings is about it."""

    name: str
    replicas: int = 0
    section: str = ""
    setting: str = "replicaCount"
    on: str | None = None

    def pods(self, configuration: Mapping[str, Any]) -> int:
        """Return the pods of the Deployment, or of the DaemonSet on each node."""
        settings = configuration.get(self.section) if self.section else configuration
        given = settings if isinstance(settings, Mapping) else {}
        count = given.get(self.setting, self.replicas) if self.replicas else 1
        return max(count, 0) if isinstance(count, int) and given.get("enabled") is not False else 0


def addons_before_nodes(config: ClusterConfig) -> list[Addon]:
    """Return the add-ons of the EKS cluster that need no nodes."""
    return [addon for addon in all_addons(config) if addon.name in BEFORE_NODES]


def addons_after_nodes(config: ClusterConfig) -> list[Addon]:
    """Return the add-ons whose pods need nodes: without them they stay DEGRADED, and the stack would fail."""
    return [addon for addon in all_addons(config) if addon.name not in BEFORE_NODES]


@cache
def table() -> dict[str, Any]:
    """Return the table of add-ons."""
    content: dict[str, Any] = json.loads(TABLE.read_text(encoding="utf-8"))
    return content


@cache
def versions() -> dict[str, dict[str, str | None]]:
    """Return the version of each add-on by Kubernetes version; None if no source names one, so that EKS chooses it."""
    return {name: row["addons"] for name, row in table()["kubernetes"].items()}


def standard_support_end(version: str) -> date | None:
    """Return the last day of the Kubernetes version's standard support, if it is known."""
    row = table()["kubernetes"].get(version)
    return date.fromisoformat(row["standard_support_ends"]) if row else None


def workloads(addon: str) -> tuple[Workload, ...]:
    """Return the workloads of an add-on; none of an unknown one."""
    return tuple(Workload(**row) for row in table()["pods"].get(addon, ()))


def pods_of(addon: Addon, type_name: str = "") -> int:
    """Return the pods of the add-on's Deployments, or those of its DaemonSets on a node of a type."""
    of_kind = (one for one in workloads(addon.name) if bool(one.replicas) != bool(type_name))
    return sum(one.pods(addon.configuration) for one in of_kind if one.on in (None, accelerator(type_name)))


def broken(name: AddonName, version: str) -> dict[str, str] | None:
    """Return the table's row, with `problem`, `fixed` and `source`, if this version of the add-on breaks on HyperPod."""
    row: dict[str, str] | None = table()["broken"].get(name)
    return row if row and release(row["first"]) <= release(version) < release(row["fixed"]) else None


def release(version: str) -> tuple[int, ...]:
    """Return the numbers of an add-on's version, without its build: (1, 20, 4) for ``v1.20.4-eksbuild.2``."""
    return tuple(map(int, version.removeprefix("v").split("-")[0].split(".")))


def newest_version() -> str:
    """Return the newest Kubernetes version that HyperPod is known to support."""
    # https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-prerequisites.html lists 1.30 to 1.35.
    return max(versions(), key=minor)


def minor(version: str) -> int:
    """Return the number of the minor version."""
    return int(version.partition(".")[2])


def enabled_addons(config: ClusterConfig) -> dict[AddonName, str | None]:
    """Return the version of each add-on of the EKS cluster; None if EKS chooses it."""
    if config.eks is None:
        return {}
    default = AddonConfig()
    settings = {name: config.eks.addons.get(name, default) for name in AddonName}
    known = versions().get(config.eks.version or "", {})
    return {
        name: each.version or known.get(name.value)
        for name, each in settings.items()
        if (_is_default(name, config, config.eks) if each.enabled is None else each.enabled)
    }


def all_addons(config: ClusterConfig) -> list[Addon]:
    """Return the add-ons of the EKS cluster."""
    if config.eks is None:
        return []
    written = {name: each.configuration for name, each in config.eks.addons.items()}
    deployments = _deployments(config)
    return [
        Addon(name, version, merged(deployments.get(name, {}), written.get(name, {})))
        for name, version in enabled_addons(config).items()
    ]


def _deployments(config: ClusterConfig) -> dict[AddonName, dict[str, Any]]:
    """Return the deployment's settings of add-ons: without them, no node would run these pods if all groups have taints.

    They tolerate no other taint: a pod that tolerates a cordon returns to the node from which it was evicted, and pods would
    share the hardware with HyperPod's deep health checks. Without taints, an add-on's own settings are right, and EKS has no
    reason to refuse any: the schemas of aws-fsx-csi-driver and of some others are not public (`./hpod preflight` reads them).
    """
    of_groups = tolerations(taint for group in EffectiveRequest(config).groups for _, taint in group.taints())
    if not of_groups:
        return {}
    own = [CRITICAL, *of_groups]
    return {
        AddonName.COREDNS: {"tolerations": own},
        AddonName.METRICS_SERVER: {"tolerations": own},
        AddonName.CERT_MANAGER: {"tolerations": own, "webhook": {"tolerations": own}, "cainjector": {"tolerations": own}},
        # charts/amazon-cloudwatch-observability/templates/_helpers.tpl: of the operator, its agents and Fluent Bit
        AddonName.CLOUDWATCH_OBSERVABILITY: {"tolerations": own},
        AddonName.FSX_CSI_DRIVER: {"controller": {"tolerations": own}, "node": {"tolerateAllTaints": True}},
    }


def _is_default(name: AddonName, config: ClusterConfig, eks: EksConfig) -> bool:
    """Return whether the cluster has the add-on if the file does not say so."""
    if eks.existing:
        return False
    match name:
        case AddonName.FSX_CSI_DRIVER:
            return config.storage.lustre is not None or config.storage.existing is not None
        case AddonName.TASK_GOVERNANCE:
            return has_task_governance(eks)
    return True
