"""Describe the partitions of Slurm to the controllers' scripts."""

from config.model import ClusterConfig, slurm_of
from config.slurm import ALL_NODES, PartitionConfig

Settings = dict[str, object]


def partitions(config: ClusterConfig) -> list[Settings]:
    """Return the partitions of the file, and those that only compute groups name: HyperPod's agent may lack a new one."""
    groups = {name: [group.name for group in members] for name, members in config.partition_groups().items()}
    declared = {each.name: each for each in slurm_of(config).partitions}
    named = [name for name in groups if name not in declared and name != ALL_NODES]
    found: list[Settings] = [
        {"name": name, "groups": groups.get(name), "options": _options(each)} for name, each in declared.items()
    ]
    return found + [{"name": name, "groups": groups[name], "options": {}} for name in named]


def _options(partition: PartitionConfig) -> dict[str, str]:
    """Return the fields as keys and values of a PartitionName line."""
    options = {
        "Default": "YES" if partition.default else None,
        "MaxTime": partition.max_time,
        "PriorityTier": partition.priority_tier,
        "PriorityJobFactor": partition.priority_job_factor,
        "QOS": partition.qos,
        "AllowAccounts": ",".join(partition.allow_accounts) or None,
        "State": partition.state,
    }
    return {key: str(value) for key, value in options.items() if value is not None}
