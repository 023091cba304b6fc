"""Nodes that MoveClusterNodes moved between groups, recognized by the groups' counts.

AWS moves running nodes with their ids and addresses, wipes their volumes, and changes the count of both groups. A deployment that
sets one of these counts launches new instances for the moved nodes, or terminates them. Both clusters must have EKS and
continuous provisioning.
"""

from collections.abc import Iterator

from cli.counted import counted
from cli.resource_code import Cluster, Desired, Group

MOVING = ("AttachInProgress", "DetachInProgress")
"""The states of a node that moves: listed in its old group, then in its new one."""
FIX = "set `instance_count` of both groups to their current counts, or move the nodes back (`aws sagemaker move-cluster-nodes`)"


def moved_nodes(desired: Desired, cluster: Cluster) -> dict[str, str]:
    """Return each group that lost or got nodes since the last deployment, and whose nodes were probably moved."""
    if not (cluster.is_continuous and (cluster.settings.get("Orchestrator") or {}).get("Eks")):
        return {}
    shifts = {group.name: (group, shift) for group, shift in _shifts(desired, cluster) if shift}
    found: dict[str, str] = {}
    for name, (group, fewer) in shifts.items():
        gains = {other.name: more for other, more in shifts.values() if fewer < 0 < more and _types(group) & _types(other)}
        if gains:
            gained = ", ".join(f"{other} {more} more" for other, more in gains.items())
            message = f"since the last deployment, group {name} has {counted(-fewer, 'node')} fewer and group {gained}: moved?"
            found |= dict.fromkeys((name, *gains), message)
    return found


def _shifts(desired: Desired, cluster: Cluster) -> Iterator[tuple[Group, int]]:
    """Yield the groups of the file with the nodes that they got since the last deployment."""
    specs = {spec["InstanceGroupName"]: spec for _, spec in desired.groups()}
    for group in cluster.groups:
        if spec := desired.old_groups().get(group.name) or specs.get(group.name):
            yield group, group.target - int(spec["InstanceCount"])


def _types(group: Group) -> set[str]:
    several = (group.specification.get("InstanceRequirements") or {}).get("InstanceTypes") or ()
    return {str(name) for name in (group.specification.get("InstanceType"), *several) if name}
