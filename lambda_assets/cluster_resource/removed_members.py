"""Find members that the file removed from the request and the cluster still has.

AWS does not document what UpdateCluster does with a member that it leaves out, so this assumes the worse: HyperPod keeps it.
Where the service model has a value that unsets a member, an update sends that value. Other members of a group or of the cluster
cannot be unset. A member inside another one is left out, and the update fails if DescribeCluster still shows it.
"""

from collections.abc import Callable, Iterator, Mapping
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
"""The value that unsets a member: an empty list or map, or the mode that the service model has for it."""

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
"""Members of a group or of the cluster without such a value."""

UNDEFINED = ("NodeRecovery",)
"""Members whose value before a first update is unknown: HyperPod's default is not documented, so a rollback leaves them."""

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

Differs = Callable[[Any, Any], bool]


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


def kept_members(new: Json, old: Json, observed: Mapping[str, Any], differs: Differs, prefix: str = "") -> Iterator[str]:
    """Yield the path of each member that only ``old`` has, and that the cluster still has with the same value."""
    for name, before in old.items():
        path, seen = f"{prefix}{name}", observed.get(name)
        if path in OTHER_RULES and name not in new:
            continue
        if isinstance(before, dict) and isinstance(seen, dict) and (name in new or path not in PERMANENT):
            yield from kept_members(new.get(name) or {}, before, seen, differs, f"{path}.")
        elif name not in new:
            if seen not in (None, [], {}, OFF.get(path)) and not differs(before, seen):
                yield path
        elif isinstance(before, list) and isinstance(seen, list):
            yield from _kept_in_items(new[name], before, seen, differs, path)


def _kept_in_items(new: Any, old: list[Any], observed: list[Any], differs: Differs, path: str) -> Iterator[str]:
    """Yield what the items of a list keep; DescribeCluster may show them in another order."""
    if not isinstance(new, list) or len(new) != len(old):
        return  # other lists differ as a whole
    for index, (item, before) in enumerate(zip(new, old, strict=True)):
        if isinstance(item, dict) and isinstance(before, dict) and not differs(item, before):
            seen = next((each for each in observed if isinstance(each, dict) and not differs(before, each)), {})
            yield from kept_members(item, before, seen, differs, f"{path}[{index}].")
