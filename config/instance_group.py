"""Define an instance group."""

from enum import StrEnum
from typing import Annotated, Any

from pydantic import StrictInt, StringConstraints

from config.section import Change, KeyArn, Section, setting

Name = Annotated[str, StringConstraints(pattern=r"^[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}$", max_length=63)]
_NAME = "[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
LABEL_KEY = rf"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?{_NAME}$"
LABEL_VALUE = f"^{_NAME}$"
PARTITION_NAME = r"^[a-zA-Z0-9][a-zA-Z0-9._-]{0,62}$"


class Role(StrEnum):
    """The role of a group's nodes in the Slurm cluster."""

    CONTROLLER = "controller"
    LOGIN = "login"
    COMPUTE = "compute"


class DeepHealthCheck(StrEnum):
    """HyperPod's deep health checks."""

    STRESS = "InstanceStress"
    CONNECTIVITY = "InstanceConnectivity"
    TRAINING = "MultiNodeTrainingValidation"


class Capacity(StrEnum):
    """The source of a group's instances."""

    ON_DEMAND = "on_demand"
    SPOT = "spot"
    TRAINING_PLAN = "training_plan"


class TaintEffect(StrEnum):
    """The effect of a taint on pods that do not tolerate it."""

    NO_SCHEDULE = "NoSchedule"
    PREFER_NO_SCHEDULE = "PreferNoSchedule"
    NO_EXECUTE = "NoExecute"


class Taint(Section):
    """A taint of the nodes in Kubernetes."""

    key: Annotated[str, StringConstraints(pattern=LABEL_KEY, max_length=317)] = setting(
        "key of the taint",
        Change.IN_PLACE,
        api="sagemaker:CreateCluster InstanceGroups[].KubernetesConfig.Taints[].Key",
    )
    value: Annotated[str, StringConstraints(pattern=LABEL_VALUE, max_length=63)] | None = setting(
        "value of the taint",
        Change.IN_PLACE,
        None,
        api="sagemaker:CreateCluster InstanceGroups[].KubernetesConfig.Taints[].Value",
    )
    effect: TaintEffect = setting(
        "effect on pods that do not tolerate the taint",
        Change.IN_PLACE,
        api="sagemaker:CreateCluster InstanceGroups[].KubernetesConfig.Taints[].Effect",
    )


class InstanceGroup(Section):
    """Nodes of usually one instance type; `role` and `partition` belong to Slurm, `labels` and `taints` to EKS."""

    name: Name = setting(
        "name of the group; a renamed group is replaced",
        Change.REPLACES_NODES,
        api="sagemaker:CreateCluster InstanceGroups[].InstanceGroupName",
    )
    role: Role | None = setting(
        "role of the nodes in the Slurm cluster; required for Slurm; rename the group to change it on running nodes",
        Change.NEW_NODES,
        None,
        api="sagemaker:CreateCluster InstanceGroups[].SlurmConfig.NodeType",
    )
    instance_type: str = setting(
        "instance type that HyperPod supports, e.g. `ml.c5.xlarge`",
        Change.REPLACES_NODES,
        pattern=r"^ml\.[a-z0-9-]+\.[a-z0-9-]+$",
        api="sagemaker:CreateCluster InstanceGroups[].InstanceType",
    )
    instance_count: StrictInt = setting(
        "number of nodes", Change.IN_PLACE, ge=0, le=6758, api="sagemaker:CreateCluster InstanceGroups[].InstanceCount"
    )
    min_instance_count: StrictInt | None = setting(
        "number of running nodes for a successful deployment; HyperPod adds the others when it has capacity; requires "
        "`provisioning: continuous`",
        Change.IN_PLACE,
        None,
        ge=1,
        le=6758,
        api="sagemaker:CreateCluster InstanceGroups[].MinInstanceCount",
    )
    threads_per_core: StrictInt = setting(
        "threads per CPU core; 1 disables hyper-threading",
        Change.REPLACES_NODES,
        1,
        ge=1,
        le=2,
        api="sagemaker:CreateCluster InstanceGroups[].ThreadsPerCore",
    )
    partition: str | None = setting(
        "Slurm partition of a compute group",
        Change.NEW_NODES,
        None,
        pattern=PARTITION_NAME,
        api="sagemaker:CreateCluster InstanceGroups[].SlurmConfig.PartitionNames[]",
    )
    labels: dict[
        Annotated[str, StringConstraints(pattern=LABEL_KEY, max_length=317)],
        Annotated[str, StringConstraints(pattern=LABEL_VALUE, max_length=63)],
    ] = setting(
        "labels of the nodes in Kubernetes, also of running nodes",
        Change.IN_PLACE,
        {},
        max_length=50,
        api="sagemaker:CreateCluster InstanceGroups[].KubernetesConfig.Labels",
    )
    taints: tuple[Taint, ...] = setting(
        "taints of the nodes in Kubernetes, also of running nodes: `NoExecute` evicts pods",
        Change.IN_PLACE,
        (),
        max_length=50,
        api="sagemaker:CreateCluster InstanceGroups[].KubernetesConfig.Taints",
    )
    deep_health_checks: tuple[DeepHealthCheck, ...] = setting(
        "checks that each new node must pass (only types with accelerators; up to two hours)",
        Change.NEW_NODES,
        (),
        max_length=3,
        api="sagemaker:CreateCluster InstanceGroups[].OnStartDeepHealthChecks",
    )
    volume_gib: StrictInt | None = setting(
        "size of an additional EBS volume for each node, in GiB",
        Change.NEW_NODES,
        None,
        ge=1,
        le=16384,
        api="sagemaker:CreateCluster InstanceGroups[].InstanceStorageConfigs[].EbsVolumeConfig.VolumeSizeInGB",
    )
    volume_key_arn: KeyArn | None = setting(
        "customer managed KMS key of the nodes' root volume and additional volume; its key policy must allow access through IAM "
        "policies; requires `provisioning: continuous`; rename the group to change the key",
        Change.REPLACES_NODES,
        None,
        api="sagemaker:CreateCluster InstanceGroups[].InstanceStorageConfigs[].EbsVolumeConfig.VolumeKmsKeyId",
    )
    capacity: Capacity | None = setting(
        "source of the instances: `on_demand`, `spot` (cheaper, and EC2 can reclaim nodes at any time; requires `provisioning: "
        "continuous`) or `training_plan` (requires `training_plan_arn`); default: `training_plan` with one, otherwise HyperPod's",
        Change.NEW_NODES,
        None,
        api="sagemaker:CreateCluster InstanceGroups[].CapacityRequirements",
    )
    training_plan_arn: str | None = setting(
        "training plan that reserves the group's capacity",
        Change.NEW_NODES,
        None,
        api="sagemaker:CreateCluster InstanceGroups[].TrainingPlanArn",
    )
    image_id: str | None = setting(
        "machine image of the nodes, e.g. `ami-0123456789abcdef0`; to change it, first run `aws sagemaker "
        "update-cluster-software` with `--image-id`, which ends jobs on the group's nodes; default: HyperPod's current image",
        Change.REPLACES_NODES,
        None,
        api="sagemaker:CreateCluster InstanceGroups[].ImageId",
    )
    execution_role: str | None = setting(
        "ARN of an existing role of the nodes; default: the role that the deployment creates; the deployment does not change it",
        Change.REPLACES_NODES,
        None,
        api="sagemaker:CreateCluster InstanceGroups[].ExecutionRole",
    )
    overrides: dict[str, Any] = setting(
        "members of the group in CreateCluster, which take precedence; `null` removes a member",
        Change.IN_PLACE,
        {},
    )


class SlurmInstanceGroup(InstanceGroup):
    """Nodes with one role in the Slurm cluster and usually one instance type."""

    role: Role = setting(
        "role of the nodes in the Slurm cluster",
        Change.NEW_NODES,
        api="sagemaker:CreateCluster InstanceGroups[].SlurmConfig.NodeType",
    )
