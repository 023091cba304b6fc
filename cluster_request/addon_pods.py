"""The pods of add-ons: DaemonSets and Deployments, with their replicas."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from cluster_request.eks_addons import Addon, table
from config.instance_types import accelerator


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


def workloads(addon: str) -> tuple[Workload, ...]:
    """Return the workloads of an add-on; none of an unknown one."""
    return tuple(Workload(**row) for row in table()["pods"].get(addon, ()))


def pods_of(addon: Addon, type_name: str = "") -> int:
    """Return the pods of the add-on's Deployments, or those of its DaemonSets on a node of a type."""
    of_kind = (one for one in workloads(addon.name) if bool(one.replicas) != bool(type_name))
    return sum(one.pods(addon.configuration) for one in of_kind if one.on in (None, accelerator(type_name)))
