"""The state of HyperPod task governance: compute quotas and scheduler configs."""

import secrets
import string
from dataclasses import dataclass, field
from datetime import datetime

from local_aws.clock import host_now
from local_aws.json_service import Call, Json

QUOTA, SCHEDULER = "ComputeQuota", "ClusterSchedulerConfig"
_PATHS = {QUOTA: "compute-quota", SCHEDULER: "cluster-scheduler-config"}


@dataclass
class Item:
    """A quota or scheduler config; ``settings`` are the fields that requests determine."""

    resource: str
    id: str
    arn: str
    cluster_arn: str
    name: str
    settings: Json
    tags: dict[str, str]
    status: str = "Creating"
    version: int = 1
    failure: str = ""
    created: datetime = field(default_factory=host_now)
    modified: datetime = field(default_factory=host_now)

    @property
    def team(self) -> str:
        """Return the team of a quota."""
        return str((self.settings.get("ComputeQuotaTarget") or {}).get("TeamName", ""))

    @property
    def is_busy(self) -> bool:
        """Return whether a change is in progress."""
        return self.status in ("Creating", "Updating", "Deleting")


_items: dict[str, Item] = {}


def new_id() -> str:
    """Return an ID in the service's form."""
    return "".join(secrets.choice(string.ascii_lowercase + string.digits) for _ in range(12))


def arn_of(call: Call, resource: str, id: str) -> str:
    """Return the ARN of a quota or scheduler config."""
    return call.arn("sagemaker", f"{_PATHS[resource]}/{id}")


def is_arn(arn: str) -> bool:
    """Return whether an ARN is that of a quota or scheduler config."""
    return any(f":{path}/" in arn for path in _PATHS.values())


def by_arn(arn: str) -> Item | None:
    """Return the item with this ARN, or None."""
    return _items.get(arn)


def of_cluster(cluster_arn: str) -> list[Item]:
    """Return the quotas and scheduler configs of a cluster."""
    return [item for item in _items.values() if item.cluster_arn == cluster_arn]


def of_caller(call: Call, resource: str) -> list[Item]:
    """Return the items of a resource in the call's account and region, oldest first."""
    prefix = arn_of(call, resource, "")
    return [item for arn, item in _items.items() if arn.startswith(prefix)]


def add(item: Item) -> None:
    """Add an item."""
    _items[item.arn] = item


def remove(item: Item) -> None:
    """Remove an item."""
    _items.pop(item.arn, None)


def reset() -> None:
    """Remove all items."""
    _items.clear()
