"""Check what `overrides` must not set."""

from collections.abc import Iterable, Iterator, Mapping
from operator import attrgetter

from cluster_request.request import RESERVED_CLUSTER_MEMBERS, RESERVED_GROUP_MEMBERS
from cluster_request.request_fields import group_fields
from config.entries import numbered
from config.errors import ABSENT, Level, Path, Problem
from config.model import ClusterConfig
from config.section import Section
from validation.rules.registry import rule

# A field, and the member that it sets or requires; beyond those of `group_fields`.
CLUSTER_MEMBERS = (("provisioning", "NodeProvisioningMode"), ("node_recovery", "NodeRecovery"))
# https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-autoscaling.html
EKS_MEMBERS = (("eks.autoscaling", "AutoScaling.Mode"), ("eks.autoscaling", "ClusterRole"))
GROUP_MEMBERS = (
    ("labels", "KubernetesConfig.Labels"),
    ("taints", "KubernetesConfig.Taints"),
    ("capacity", "CapacityRequirements"),
)
REPLACED = "InstanceType"
"""`InstanceRequirements` takes its place: the rule `instance-type-conflict`."""


@rule("reserved-cluster-overrides", "overrides")
def reserved_cluster_overrides(config: ClusterConfig) -> Iterator[Problem]:
    """The cluster's `overrides` must not set ClusterName, InstanceGroups or Tags.

    Names, ownership and the Slurm configuration are derived from the corresponding fields.
    """
    for member, field in RESERVED_CLUSTER_MEMBERS.items():
        if member in config.overrides:
            yield Problem(("overrides", member), config.overrides[member], "cannot be overridden", f"set `{field}` instead")


@rule("reserved-group-overrides", "instance_groups[]")
def reserved_group_overrides(config: ClusterConfig) -> Iterator[Problem]:
    """A group's `overrides` must not set InstanceGroupName or InstanceCount.

    The Slurm configuration and the wait for nodes are derived from the corresponding fields.
    """
    for index, group in numbered(config.instance_groups):
        for member, field in RESERVED_GROUP_MEMBERS.items():
            if member in group.overrides:
                path = ("instance_groups", index, "overrides", member)
                yield Problem(path, group.overrides[member], "cannot be overridden", f"set `{field}` instead")


@rule("override-replaces-field", "instance_groups[]", level=Level.WARNING)
def override_replaces_field(config: ClusterConfig) -> Iterator[Problem]:
    """A group's `overrides` must not replace a field that the file sets for the same group.

    The override wins, so the field is misleading.
    """
    for index, group in numbered(config.instance_groups):
        for name, field in group_fields().items():
            is_given = name not in RESERVED_GROUP_MEMBERS and field in group.model_fields_set
            if is_given and group.overrides.get(name) is not None:
                message = f"overrides `{field}: {_short(getattr(group, field))}` of the same group"
                yield Problem(("instance_groups", index, "overrides", name), group.overrides[name], message, "keep only one")


@rule("removed-member", "instance_groups[]", "overrides", "eks", "provisioning", "node_recovery", "slurm.setup")
def removed_member(config: ClusterConfig) -> Iterator[Problem]:
    """`overrides` must not remove by null what a field of the file sets or requires.

    Otherwise the field has no effect, or HyperPod rejects the request.
    """
    yield from _removed(config, config.overrides, (*CLUSTER_MEMBERS, *(EKS_MEMBERS if config.eks else ())), ("overrides",))
    own = [(field, name) for name, field in group_fields().items() if name not in (*RESERVED_GROUP_MEMBERS, REPLACED)]
    role = [("role", "SlurmConfig")] if config.uses_slurm_api else []
    for index, group in numbered(config.instance_groups):
        path = ("instance_groups", index, "overrides")
        yield from _removed(group, group.overrides, (*own, *GROUP_MEMBERS, *role), path)


def _removed(
    section: Section, overrides: Mapping[str, object], members: Iterable[tuple[str, str]], above: Path
) -> Iterator[Problem]:
    for field, member in members:
        names = _null(overrides, member.split("."))
        if names and field.split(".")[0] in section.model_fields_set and attrgetter(field)(section):
            yield Problem((*above, *names), None, f"required by `{field}`", f"remove this line, or `{field}`")


def _null(overrides: object, names: list[str]) -> list[str]:
    """Return the names of the member if it is null, or of the null above it; empty if there is none."""
    for depth, name in enumerate(names, 1):
        overrides = overrides.get(name, ABSENT) if isinstance(overrides, Mapping) else ABSENT
        if overrides is None:
            return names[:depth]
    return []


def _short(value: object) -> str:
    return f"[{', '.join(map(str, value))}]" if isinstance(value, tuple) else str(value)
