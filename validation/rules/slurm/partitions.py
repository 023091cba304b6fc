"""Check `slurm.partitions`."""

from collections.abc import Iterator

from config.entries import numbered, repeated
from config.errors import Level, Path, Problem
from config.instance_group import Role
from config.model import ClusterConfig, slurm_of
from config.slurm import ALL_NODES, Database, PartitionConfig
from config.suggestions import nearest
from validation.rules.registry import slurm_rule

PARTITIONS: Path = ("slurm", "partitions")
ENFORCE = "accountingstorageenforce"


def _numbered(config: ClusterConfig) -> Iterator[tuple[Path, PartitionConfig]]:
    for index, partition in numbered(slurm_of(config).partitions):
        yield (*PARTITIONS, index), partition


@slurm_rule("unique-partition-names", "slurm.partitions[]")
def unique_partition_names(config: ClusterConfig) -> Iterator[Problem]:
    """Names in `slurm.partitions` must be unique.

    slurmctld does not start with two definitions of a partition.
    """
    for path, name, _ in repeated((path, partition.name) for path, partition in _numbered(config)):
        yield Problem((*path, "name"), name, "duplicate partition", "merge the entries, or rename one")


@slurm_rule("one-default-partition", "slurm.partitions[]")
def one_default_partition(config: ClusterConfig) -> Iterator[Problem]:
    """At most one partition may have `default: true`.

    Slurm would use the last one.
    """
    defaults = [(path, partition) for path, partition in _numbered(config) if partition.default]
    for path, _ in defaults[1:]:
        yield Problem((*path, "default"), True, f"partition {defaults[0][1].name} is the default already", "remove one")


@slurm_rule("partition-groups", "slurm.partitions[]", "instance_groups")
def partition_groups(config: ClusterConfig) -> Iterator[Problem]:
    """`groups` of a partition must name compute groups, each once.

    Only compute nodes run jobs; a partition with a misspelled group lacks its nodes.
    """
    roles = {group.name: group.role for group in config.instance_groups}
    known = [name for name, role in roles.items() if role is Role.COMPUTE]
    for path, partition in _numbered(config):
        for index, name in enumerate(partition.groups or ()):
            place = (*path, "groups", index)
            if name in (partition.groups or ())[:index]:
                yield Problem(place, name, "duplicate group", "remove one")
            elif name not in known:
                role = roles.get(name)
                parts = (f"a {role} group runs no jobs", "remove it") if role else ("unknown group", nearest(name, known))
                yield Problem(place, name, *parts)


@slurm_rule("incomplete-partition-groups", "slurm.partitions[]", "instance_groups")
def incomplete_partition_groups(config: ClusterConfig) -> Iterator[Problem]:
    """`groups` of a partition must contain all groups whose `partition` is its name.

    HyperPod's agent adds the nodes of these groups to the partition.
    """
    for path, partition in _numbered(config):
        missing = [group.name for group in config.of_role(Role.COMPUTE) if group.partition == partition.name]
        missing = [name for name in missing if name not in (partition.groups or missing)]
        if missing:
            names = ", ".join(missing[:3]) + (f" and {len(missing) - 3} more" if len(missing) > 3 else "")
            message = f"lacks {names} with `partition: {partition.name}`"
            fix = "add the missing groups, or change their `partition`"
            yield Problem((*path, "groups"), list(partition.groups or ()), message, fix)


@slurm_rule("partition-without-groups", "slurm.partitions[]", "instance_groups")
def partition_without_groups(config: ClusterConfig) -> Iterator[Problem]:
    """A partition must have `groups`, or the name of a group's `partition`; HyperPod's `dev` has all nodes.

    A partition without nodes runs no jobs.
    """
    named = config.partition_groups().keys() | {ALL_NODES}
    for path, partition in _numbered(config):
        if partition.groups is None and partition.name not in named:
            message = "no group has this partition"
            yield Problem((*path, "name"), partition.name, message, f"add `groups`, or {nearest(partition.name, named)}")


@slurm_rule("partition-accounting", "slurm.partitions[]", "slurm.accounting.database")
def partition_accounting(config: ClusterConfig) -> Iterator[Problem]:
    """`qos` and `allow_accounts` of a partition require an accounting database.

    Without slurmdbd, Slurm knows no QOS and no accounts: it rejects all jobs of the partition.
    """
    if slurm_of(config).accounting.database is Database.NONE:
        for path, partition in _numbered(config):
            for field, value in (("qos", partition.qos), ("allow_accounts", list(partition.allow_accounts))):
                if value:
                    fix = "remove it, or set `slurm.accounting.database: local`, or `external`"
                    yield Problem((*path, field), value, "requires accounting", fix)


@slurm_rule("unenforced-qos", "slurm.partitions[]", "slurm.settings", level=Level.WARNING)
def unenforced_qos(config: ClusterConfig) -> Iterator[Problem]:
    """`qos` of a partition should come with `AccountingStorageEnforce` in `slurm.settings`.

    Without it, Slurm ignores the limits of a QOS.
    """
    # https://slurm.schedmd.com/resource_limits.html
    settings = {name.lower(): value.lower() for name, value in slurm_of(config).settings.items()}
    words = {word.strip() for word in settings.get(ENFORCE, "").split(",")}
    if not words & {"limits", "safe", "qos", "all"}:
        for path, partition in _numbered(config):
            if partition.qos:
                fix = "add `AccountingStorageEnforce: associations,limits,qos` to `slurm.settings`"
                yield Problem((*path, "qos"), partition.qos, "its limits are not enforced", fix)
