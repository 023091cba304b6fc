"""Find members that the file removed from the request and the cluster still has.

AWS does not document what UpdateCluster does with a member that it leaves out, so this assumes that HyperPod keeps it. A member
inside another one is left out, and the update fails if DescribeCluster still shows it.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from cluster_resource.event import Json

OFF: Mapping[str, Any] = {
    "InstanceStorageConfigs": [],
    "KubernetesConfig.Labels": {},
    "KubernetesConfig.Taints": [],
    "SlurmConfig.PartitionNames": [],
    "NodeRecovery": "None",
    "TieredStorageConfig.Mode": "Disable",
    "AutoScaling.Mode": "Disable",
}
"""The value that unsets a member, which an update sends."""

PERMANENT = (
    "AutoPatchConfig",
    "EnvironmentConfig",
    "ImageId",
    "ImageReleaseVersion",
    "InstanceRequirements",
    "LifeCycleConfig",
    "MinInstanceCount",
    "NetworkInterface",
    "OnStartDeepHealthChecks",
    "OverrideVpcConfig",
    "RestrictedInstanceGroupsConfig",
    "ScheduledUpdateConfig",
    "ThreadsPerCore",
    "TrainingPlanArn",
)
"""Members of a group or of the cluster without such a value: they cannot be unset."""

UNDEFINED = ("NodeRecovery",)
"""Members whose default is not documented: a rollback leaves them."""

OTHER_RULES = (
    "AutoScaling.AutoScalerType",
    "CapacityRequirements",
    "ClusterRole",
    "InstanceType",
    "NodeProvisioningMode",
    "Orchestrator.Slurm.AccountingDatabase",
    "SlurmConfig",
    "TieredStorageConfig.InstanceMemoryAllocationPercentage",
)
"""Members that refusals.py refuses, or that have no effect once autoscaling or tiered storage is disabled."""

KUBERNETES = ("Labels", "Taints")
"""Members that DescribeCluster leaves out if they are empty."""


def with_off_values(new: Json, old: Json, prefix: str = "") -> Json:
    """Return the request with the values that unset the members that only ``old`` has."""
    result = dict(new)
    for name, before in old.items():
        path = f"{prefix}{name}"
        if isinstance(before, dict):
            inside = with_off_values(new.get(name) or {}, before, f"{path}.")
            result |= {name: inside} if inside else {}
        if name not in result and path in OFF:
            result[name] = OFF[path]
    return result


def kept_members(new: Json, old: Json, observed: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """Yield the path of each member that only ``old`` has, and that the cluster still has with the same value."""
    for name, before in old.items():
        path, seen = f"{prefix}{name}", observed.get(name)
        if path in OTHER_RULES and name not in new:
            continue
        if isinstance(before, dict) and isinstance(seen, dict) and (name in new or path not in PERMANENT):
            yield from kept_members(new.get(name) or {}, before, seen, f"{path}.")
        elif name not in new:
            if seen not in (None, [], {}, OFF.get(path)) and not differs(before, seen):
                yield path
        elif isinstance(before, list) and isinstance(seen, list):
            yield from _kept_in_items(new[name], before, seen, path)


def differs(desired: Any, observed: Any) -> bool:
    """Return whether ``observed`` lacks anything of ``desired``; values that the service adds do not count."""
    if isinstance(desired, dict):
        seen = observed if isinstance(observed, dict) else None
        members = {name: value for name, value in desired.items() if value or name not in KUBERNETES or (seen or {}).get(name)}
        if seen is None:
            return bool(members) or not desired
        return any(differs(value, seen.get(name)) for name, value in members.items())
    if isinstance(observed, datetime) and isinstance(desired, str):
        return datetime.fromisoformat(desired).timestamp() != observed.timestamp()
    if isinstance(desired, list) and isinstance(observed, list):
        if all(isinstance(item, str) for item in [*desired, *observed]):
            return sorted(desired) != sorted(observed)
        return len(desired) != len(observed) or _lists_differ(desired, observed)
    return bool(desired != observed) and not (desired == [] and observed is None)


def _lists_differ(desired: list[Any], observed: list[Any]) -> bool:
    """Return whether two lists of the same length differ in more than their order."""
    are_same = [[not differs(item, other) for other in observed] for item in desired]
    return not (all(map(any, are_same)) and all(map(any, zip(*are_same, strict=True))))


def _kept_in_items(new: Any, old: list[Any], observed: list[Any], path: str) -> Iterator[str]:
    """Yield what the items of a list keep; DescribeCluster may show them in another order."""
    if not isinstance(new, list) or len(new) != len(old):
        return  # other lists differ as a whole
    for index, (item, before) in enumerate(zip(new, old, strict=True)):
        if isinstance(item, dict) and isinstance(before, dict) and not differs(item, before):
            seen = next((each for each in observed if isinstance(each, dict) and not differs(before, each)), {})
            yield from kept_members(item, before, seen, f"{path}[{index}].")
