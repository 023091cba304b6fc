"""Rules about instance groups."""

from collections.abc import Iterator

from config.errors import ABSENT, Level, Problem
from config.instance_group import InstanceGroup, Role
from config.model import ClusterConfig
from config.suggestions import either
from validation.entries import numbered
from validation.rules.registry import rule


def _of_role(config: ClusterConfig, role: Role) -> list[str]:
    return [group.name for group in config.instance_groups if group.role is role]


def _numbered(config: ClusterConfig) -> Iterator[tuple[int, InstanceGroup]]:
    return numbered(config.instance_groups)


def _misplaced(group: InstanceGroup) -> bool:
    """Tell whether the group has a partition that its role does not have, or lacks the one that it has."""
    return (group.role is Role.COMPUTE) != (group.partition is not None)


def _add_up(config: ClusterConfig) -> bool:
    """Tell whether there is one controller group and no second login group."""
    return len(_of_role(config, Role.CONTROLLER)) == 1 and len(_of_role(config, Role.LOGIN)) <= 1


def _suspect(config: ClusterConfig) -> str | None:
    """The remedy that points at the groups whose partition does not go with their role."""
    names = [group.name for group in config.instance_groups if _misplaced(group)]
    return f"look at the role of {either(names)}, which does not go with its partition" if names else None


@rule("one-controller-group", "instance_groups")
def one_controller_group(config: ClusterConfig) -> Iterator[Problem]:
    """Exactly one group has the role `controller`.

    slurmctld runs there: without it the nodes have no Slurm, and with two groups the nodes cannot tell which one to follow.
    """
    controllers = _of_role(config, Role.CONTROLLER)
    if len(controllers) != 1:
        remedy = _suspect(config) or "give it to the one that runs slurmctld"
        message = f"exactly one group must have role 'controller', and {len(controllers)} have; {remedy}"
        yield Problem(("instance_groups",), controllers, message)


@rule("at-most-one-login-group", "instance_groups")
def at_most_one_login_group(config: ClusterConfig) -> Iterator[Problem]:
    """At most one group has the role `login`.

    HyperPod's provisioning parameters name one login group; the nodes of a second one would not know that they are login nodes.
    """
    logins = _of_role(config, Role.LOGIN)
    if len(logins) > 1 and _of_role(config, Role.CONTROLLER):  # without a controller, one of them is probably meant to be it
        remedy = _suspect(config) or "raise instance_count of one, remove the other"
        message = f"at most one group can have role 'login', and {len(logins)} have; {remedy}"
        yield Problem(("instance_groups",), logins, message)


@rule("some-compute-group", "instance_groups", level=Level.WARNING)
def some_compute_group(config: ClusterConfig) -> Iterator[Problem]:
    """At least one group has the role `compute`.

    Jobs run on nothing else: such a cluster takes them and leaves them in the queue.
    """
    if _add_up(config) and not _of_role(config, Role.COMPUTE):
        names = [group.name for group in config.instance_groups]
        yield Problem(("instance_groups",), names, "no group runs jobs; add one with `role: compute`")


@rule("unique-group-names", "instance_groups[]")
def unique_group_names(config: ClusterConfig) -> Iterator[Problem]:
    """No two groups have the same name.

    The name is what HyperPod, Slurm's settings and every later update know a group by.
    """
    first: dict[str, int] = {}
    for index, group in _numbered(config):
        if first.setdefault(group.name, index) != index:
            message = f"is the name of instance_groups[{first[group.name]}] too; give each group a name of its own"
            yield Problem(("instance_groups", index, "name"), group.name, message)


@rule("partitions-of-compute-groups", "instance_groups")
def partitions_of_compute_groups(config: ClusterConfig) -> Iterator[Problem]:
    """Each compute group has a partition, and no other group has one.

    Jobs are sent to partitions: without one, nothing runs on a group's nodes, and the bill is the same.
    """
    for index, group in _numbered(config):
        path = ("instance_groups", index, "partition")
        if _misplaced(group) and not _add_up(config):
            continue  # its role is what is wrong, and told already
        if group.role is Role.COMPUTE and group.partition is None:
            yield Problem(path, ABSENT, f"compute group {group.name} needs a partition; add e.g. `partition: dev`")
        if group.role is not Role.COMPUTE and group.partition is not None:
            yield Problem(path, group.partition, f"a {group.role} group runs no jobs; remove it, or make the role 'compute'")


@rule("nodes-of-the-controller-group", "instance_groups[]")
def nodes_of_the_controller_group(config: ClusterConfig) -> Iterator[Problem]:
    """The controller group has a node where another group has one.

    Every other node waits for the controller while it is set up, and fails when there is none.
    """
    is_waited_for = any(group.instance_count for _, group in _numbered(config))
    for index, group in _numbered(config):
        if group.role is Role.CONTROLLER and group.instance_count < 1 and is_waited_for:
            message = "a controller group needs at least one node; set 1, without it there is no Slurm"
            yield Problem(("instance_groups", index, "instance_count"), group.instance_count, message)


@rule("nodes-of-the-login-group", "instance_groups[]", level=Level.WARNING)
def nodes_of_the_login_group(config: ClusterConfig) -> Iterator[Problem]:
    """The login group has at least one node.

    People have nowhere to log in but the controller, where what they run takes memory from Slurm itself.
    """
    for index, group in _numbered(config):
        if group.role is Role.LOGIN and group.instance_count < 1:
            message = "people would have no node to log in to; set 1, remove the group, or silence this"
            yield Problem(("instance_groups", index, "instance_count"), group.instance_count, message)


@rule("minimum-within-count", "instance_groups[]")
def minimum_within_count(config: ClusterConfig) -> Iterator[Problem]:
    """A group's `overrides.MinInstanceCount` is not above its `instance_count`.

    The deployment would wait for nodes that nobody asked for, until its time is up.
    """
    for index, group in _numbered(config):
        least = group.overrides.get("MinInstanceCount")
        if isinstance(least, int) and least > group.instance_count:
            path = ("instance_groups", index, "overrides", "MinInstanceCount")
            yield Problem(path, least, f"is above instance_count {group.instance_count}; lower it, or raise the count")


@rule("partition-names", "instance_groups[]")
def partition_names(config: ClusterConfig) -> Iterator[Problem]:
    """No partition is called DEFAULT, however it is spelled.

    In slurm.conf the word sets what the partitions below it begin with: the group's own would not be there.
    """
    # https://slurm.schedmd.com/slurm.conf.html, PartitionName
    for index, group in _numbered(config):
        if group.partition is not None and group.partition.upper() == "DEFAULT":
            path = ("instance_groups", index, "partition")
            yield Problem(path, group.partition, "is a reserved word of slurm.conf; choose another name")
