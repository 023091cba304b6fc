"""One instance group of a cluster file."""

from enum import StrEnum
from typing import Annotated, Any

from pydantic import StrictInt, StringConstraints

from config.section import Change, Section, setting

Name = Annotated[str, StringConstraints(pattern=r"^[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}$", max_length=63)]


class Role(StrEnum):
    """What a group's nodes do in the Slurm cluster."""

    CONTROLLER = "controller"
    LOGIN = "login"
    COMPUTE = "compute"


class DeepHealthCheck(StrEnum):
    """HyperPod's deep health checks."""

    STRESS = "InstanceStress"
    CONNECTIVITY = "InstanceConnectivity"
    TRAINING = "MultiNodeTrainingValidation"


class InstanceGroup(Section):
    """Nodes of one type and one role."""

    name: Name = setting(
        "the group's name; a new name is a new group",
        Change.REPLACES_NODES,
        api="sagemaker:CreateCluster InstanceGroups[].InstanceGroupName",
    )
    role: Role = setting("what the nodes are in the Slurm cluster", Change.REPLACES_NODES)
    instance_type: str = setting(
        "a type that HyperPod takes, e.g. `ml.c5.xlarge`",
        Change.REPLACES_NODES,
        pattern=r"^ml\.[a-z0-9-]+\.[a-z0-9-]+$",
        api="sagemaker:CreateCluster InstanceGroups[].InstanceType",
    )
    instance_count: StrictInt = setting(
        "how many nodes", Change.IN_PLACE, ge=0, le=6758, api="sagemaker:CreateCluster InstanceGroups[].InstanceCount"
    )
    threads_per_core: StrictInt = setting(
        "1 turns hyper-threading off",
        Change.REPLACES_NODES,
        1,
        ge=1,
        le=2,
        api="sagemaker:CreateCluster InstanceGroups[].ThreadsPerCore",
    )
    partition: str | None = setting(
        "Slurm partition of a compute group", Change.NEW_NODES, None, pattern=r"^[a-zA-Z0-9][a-zA-Z0-9._-]{0,62}$"
    )
    deep_health_checks: tuple[DeepHealthCheck, ...] = setting(
        "checks that a new node must pass (accelerated types; can take two hours)",
        Change.NEW_NODES,
        (),
        max_length=3,
        api="sagemaker:CreateCluster InstanceGroups[].OnStartDeepHealthChecks",
    )
    volume_gib: StrictInt | None = setting(
        "size of an additional EBS volume per node",
        Change.NEW_NODES,
        None,
        ge=1,
        le=16384,
        api="sagemaker:CreateCluster InstanceGroups[].InstanceStorageConfigs[].EbsVolumeConfig.VolumeSizeInGB",
    )
    overrides: dict[str, Any] = setting(
        "fields of CreateCluster's instance group, verbatim; they win over ours, and `null` leaves one of ours out",
        Change.IN_PLACE,
        {},
    )
