"""The instance groups of an imported cluster, and the `overrides` that make the request of all fields equal to the original."""

from collections.abc import Mapping
from typing import Any

from cli.import_cluster.choices import Keep
from cli.import_cluster.deployed_values import with_values
from cli.import_cluster.instance_storage import Mounts, storage_of
from cli.import_cluster.node_setup import on_create_of
from cli.import_cluster.original import GROUPS, Original, without
from cli.import_cluster.roles import Roles
from cluster_request.request import CAPACITIES, Request, RequestValues, cluster_request
from config.eks import EksConfig
from config.instance_group import InstanceGroup
from config.lifecycle import LifecycleConfig
from config.model import ClusterConfig, NodeRecovery, Provisioning
from config.slurm import SlurmConfig
from config.storage import StorageConfig
from config.tags import RESERVED

Fields = dict[str, Any]


def group_fields(specification: Request, roles: Roles, keep: Keep, *, has_mounts: bool) -> Fields:
    """Return the fields of a group, without `overrides`."""
    role, partition = roles.found[specification["InstanceGroupName"]]
    fields = {
        "name": specification["InstanceGroupName"],
        "role": role.value if role else None,
        "partition": partition,
        "instance_type": specification.get("InstanceType") or specification["InstanceRequirements"]["InstanceTypes"][0],
        "instance_count": specification["InstanceCount"],
        "min_instance_count": specification.get("MinInstanceCount"),
        "threads_per_core": specification.get("ThreadsPerCore"),
        "deep_health_checks": specification.get("OnStartDeepHealthChecks"),
        **_volumes(specification, has_mounts=has_mounts),
        "capacity": _capacity(specification),
        "training_plan_arn": specification.get("TrainingPlanArn"),
        **(_kubernetes(specification) if role is None else {}),
        "image_id": specification.get("ImageId"),
        "execution_role": specification.get("ExecutionRole") if keep is Keep.EVERYTHING else None,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _volumes(specification: Request, *, has_mounts: bool) -> Fields:
    """Return the fields of volumes; a list with mounts that are no fields stays in `overrides`, as a whole."""
    storage = storage_of(specification)
    return storage.volumes if storage is not None and (has_mounts or storage.mounts == Mounts()) else {}


def _capacity(specification: Request) -> str | None:
    """Return the source of capacity, which a training plan replaces."""
    requirements = specification.get("CapacityRequirements")
    found = next((ours for ours, member in CAPACITIES.items() if ours and requirements == {member: {}}), None)
    return found.value if found and "TrainingPlanArn" not in specification else None


def _kubernetes(specification: Mapping[str, Any]) -> dict[str, Any]:
    """Return the labels and taints of a group."""
    config = specification.get("KubernetesConfig") or {}
    taints = [{key.lower(): value for key, value in taint.items()} for taint in config.get("Taints") or ()]
    return {"labels": config.get("Labels") or None, "taints": taints or None}


def tags_of(request: Request) -> dict[str, str]:
    """Return the user's tags."""
    return {tag["Key"]: tag["Value"] for tag in request.get("Tags", ()) if not _is_own(tag["Key"])}


def own_tags_of(request: Request) -> list[str]:
    """Return the keys of tags that AWS or the owning deployment adds."""
    return sorted(tag["Key"] for tag in request.get("Tags", ()) if _is_own(tag["Key"]))


def _is_own(key: str) -> bool:
    return key.lower().startswith(RESERVED)


def with_overrides(
    original: Original, groups: list[Fields], sections: Fields, *, keep: Keep, values: RequestValues
) -> tuple[list[Fields], Fields]:
    """Return the groups and the cluster's own `overrides`, with everything that the fields do not cover."""
    wanted = with_values(original.request, keep, values)
    ours = cluster_request(_friendly(groups, sections), values=values)
    full = []
    for fields, asked, made in zip(groups, wanted[GROUPS], ours[GROUPS], strict=True):
        rest = _difference(asked, made)
        full.append({**fields, "overrides": rest} if rest else fields)
    own = (GROUPS, "ClusterName", "Tags")  # not in the cluster's own overrides
    return full, _difference(without(wanted, *own), without(ours, *own))


def _friendly(groups: list[Fields], sections: Fields) -> ClusterConfig:
    """Return the cluster of the fields without `overrides`, as far as a request needs it."""
    recovery, provisioning = sections.get("node_recovery"), sections.get("provisioning")
    return ClusterConfig.model_construct(
        instance_groups=tuple(InstanceGroup.model_validate(fields) for fields in groups),
        storage=StorageConfig.model_validate(sections.get("storage", {})),
        eks=EksConfig.model_validate(sections["eks"]) if "eks" in sections else None,
        slurm=None if "eks" in sections else SlurmConfig.model_validate(sections.get("slurm", {})),
        provisioning=Provisioning(provisioning) if provisioning else None,
        lifecycle=LifecycleConfig(on_create=on_create_of(sections)),
        node_recovery=NodeRecovery(recovery) if recovery else None,
        tags={},
        overrides={},
    )


def _difference(wanted: Mapping[str, Any], ours: Mapping[str, Any]) -> dict[str, Any]:
    """Return the difference that, merged over ``ours``, gives ``wanted``; null removes a member."""
    found: dict[str, Any] = {name: None for name in ours if name not in wanted}
    for name, value in wanted.items():
        have = ours.get(name)
        if name not in ours:
            found[name] = value
        elif isinstance(value, Mapping) and isinstance(have, Mapping):
            if below := _difference(value, have):
                found[name] = below
        elif value != have:
            found[name] = value
    return found
