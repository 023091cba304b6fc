"""Check roles, names and partitions of instance groups."""

from collections.abc import Iterator

from config.entries import numbered
from config.errors import ABSENT, Level, Problem
from config.instance_group import InstanceGroup, Role
from config.model import ClusterConfig, slurm_of
from config.suggestions import either
from validation.rules.registry import slurm_rule


def _of_role(config: ClusterConfig, role: Role) -> list[str]:
    return [group.name for group in config.of_role(role)]


def _numbered(config: ClusterConfig) -> Iterator[tuple[int, InstanceGroup]]:
    return numbered(config.instance_groups)


def _misplaced(group: InstanceGroup) -> bool:
    """Return whether the group's partition contradicts its role."""
    return (group.role is Role.COMPUTE) != (group.partition is not None)


def _add_up(config: ClusterConfig) -> bool:
    """Return whether there is exactly one controller group and at most one login group."""
    return len(_of_role(config, Role.CONTROLLER)) == 1 and len(_of_role(config, Role.LOGIN)) <= 1


def _suspect(config: ClusterConfig) -> str | None:
    """Suggest checking the groups whose partition contradicts their role."""
    names = [group.name for group in config.instance_groups if _misplaced(group)]
    return f"check the role of {either(names)}, which contradicts its partition" if names else None


@slurm_rule("one-controller-group", "instance_groups")
def one_controller_group(config: ClusterConfig) -> Iterator[Problem]:
    """Exactly one group must have the role `controller`.

    It runs slurmctld. Without it there is no Slurm; with two, nodes cannot know which controller to use.
    """
    controllers = _of_role(config, Role.CONTROLLER)
    if len(controllers) != 1:
        fix = _suspect(config) or "set `role: controller` on the group that runs slurmctld"
        message = f"exactly one group must have role 'controller', got {len(controllers)}"
        yield Problem(("instance_groups",), controllers, message, fix)


@slurm_rule("at-most-one-login-group", "instance_groups")
def at_most_one_login_group(config: ClusterConfig) -> Iterator[Problem]:
    """At most one group may have the role `login`.

    HyperPod's provisioning parameters hold only one login group; nodes of a second one would not be set up as login nodes.
    """
    logins = _of_role(config, Role.LOGIN)
    if len(logins) > 1 and _of_role(config, Role.CONTROLLER):  # otherwise one of them is probably meant to be the controller
        fix = _suspect(config) or "increase instance_count of one group, and remove the other"
        yield Problem(("instance_groups",), logins, f"at most one group can have role 'login', got {len(logins)}", fix)


@slurm_rule("no-compute-group", "instance_groups", level=Level.WARNING)
def no_compute_group(config: ClusterConfig) -> Iterator[Problem]:
    """At least one group should have the role `compute`.

    Jobs run only on compute nodes: without them, all jobs stay in the queue.
    """
    if _add_up(config) and not _of_role(config, Role.COMPUTE):
        names = [group.name for group in config.instance_groups]
        yield Problem(("instance_groups",), names, "no group has the role 'compute'", "add one to run jobs")


@slurm_rule("partition-role", "instance_groups")
def partition_role(config: ClusterConfig) -> Iterator[Problem]:
    """Each compute group must have a partition, and no other group may have one.

    Jobs are submitted to partitions: nodes without one cost money but run nothing.
    """
    for index, group in _numbered(config):
        path = ("instance_groups", index, "partition")
        if _misplaced(group) and not _add_up(config):
            continue  # another rule reports the role
        if group.role is Role.COMPUTE and group.partition is None:
            yield Problem(path, ABSENT, f"compute group {group.name} requires a partition", "add e.g. `partition: dev`")
        if group.role is not Role.COMPUTE and group.partition is not None:
            yield Problem(
                path, group.partition, f"a {group.role} group cannot have a partition", "remove it, or set `role: compute`"
            )


@slurm_rule("empty-controller-group", "instance_groups[]")
def empty_controller_group(config: ClusterConfig) -> Iterator[Problem]:
    """The controller group must have a node if any other group has one.

    Every other node waits for the controller during its setup, and fails without it.
    """
    is_waited_for = any(group.instance_count for _, group in _numbered(config))
    for index, group in _numbered(config):
        if group.role is Role.CONTROLLER and group.instance_count < 1 and is_waited_for:
            message = "the controller group requires at least one node"
            yield Problem(("instance_groups", index, "instance_count"), group.instance_count, message, "set 1")


@slurm_rule("empty-login-group", "instance_groups[]", level=Level.WARNING)
def empty_login_group(config: ClusterConfig) -> Iterator[Problem]:
    """The login group should have at least one node.

    Otherwise users can log in only to the controller, where their processes compete with Slurm for memory.
    """
    for index, group in _numbered(config):
        if group.role is Role.LOGIN and group.instance_count < 1:
            fix = "set 1, remove the group, or suppress this warning"
            yield Problem(("instance_groups", index, "instance_count"), group.instance_count, "the login group has no nodes", fix)


@slurm_rule("reserved-partition-name", "instance_groups[]", "slurm.partitions[]")
def reserved_partition_name(config: ClusterConfig) -> Iterator[Problem]:
    """No partition may be called DEFAULT, in upper or lower case.

    In slurm.conf, `PartitionName=DEFAULT` sets defaults for other partitions and creates none.
    """
    # https://slurm.schedmd.com/slurm.conf.html, PartitionName
    for index, group in _numbered(config):
        if group.partition is not None and group.partition.upper() == "DEFAULT":
            path = ("instance_groups", index, "partition")
            yield Problem(path, group.partition, "reserved by slurm.conf", "use another name")
    for index, partition in numbered(slurm_of(config).partitions):
        if partition.name.upper() == "DEFAULT":
            yield Problem(("slurm", "partitions", index, "name"), partition.name, "reserved by slurm.conf", "use another name")
