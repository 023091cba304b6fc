"""Build the CreateCluster request for a cluster file, and check it against the service model."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from cluster_request.request_check import check_request, unknown_null
from cluster_request.request_fields import in_file
from cluster_request.service_model import group_shape, input_shape
from config.eks import Autoscaling
from config.entries import numbered
from config.errors import Path, Problem
from config.instance_group import Capacity, InstanceGroup, Role
from config.model import ClusterConfig, Provisioning, slurm_of
from config.slurm import SCRIPTS_LINE, Database
from config.storage import LustreConfig
from config.zones import partition_of

# CreateCluster's input, as JSON.
Request = dict[str, Any]

# Step Functions accepts 256 KiB of input. CloudFormation's event has the new and the old request, and 16 KiB for everything else.
MAX_REQUEST_BYTES = (256 - 16) * 1024 // 2

NODE_TYPES = {Role.CONTROLLER: "Controller", Role.LOGIN: "Login", Role.COMPUTE: "Compute"}
# TrainingPlanArn requests a training plan.
CAPACITIES: dict[Capacity | None, str] = {Capacity.ON_DEMAND: "OnDemand", Capacity.SPOT: "Spot"}
CONTINUOUS = "Continuous"
AUTOSCALING = {"Mode": "Enable", "AutoScalerType": "Karpenter"}
LUSTRE_PATH = LustreConfig.mount_path

# Members that names, ownership and the Slurm configuration depend on: a rule rejects overrides of them.
RESERVED_CLUSTER_MEMBERS = {"ClusterName": "cluster_name", "InstanceGroups": "instance_groups", "Tags": "tags"}
RESERVED_GROUP_MEMBERS = {"InstanceGroupName": "name", "InstanceCount": "instance_count"}


@dataclass(frozen=True)
class RequestValues:
    """Values that are known only at deployment; the construct passes tokens."""

    execution_role_arn: str
    source_s3_uri: str
    subnet_ids: Sequence[str]
    security_group_ids: Sequence[str]
    # Of the FSx for Lustre file system, if the cluster has one.
    file_system_dns_name: str | None = None
    file_system_mount_name: str | None = None
    # Of the controllers, with `slurm.controller_role: own`.
    controller_role_arn: str | None = None
    # Of the EKS cluster that is the orchestrator, if the file has one.
    eks_cluster_arn: str | None = None
    # Of the role that HyperPod uses to add and remove nodes, with `eks.autoscaling`.
    autoscaler_role_arn: str | None = None

    @classmethod
    def samples(cls, config: ClusterConfig) -> Self:
        """Return well-formed values of maximum length, for checking the request."""
        account, region = config.account or "123456789012", config.region or "us-east-1"
        network = config.network.existing
        bucket = f"sagemaker-{config.name}-{account}-{region}-{'0' * 12}"
        has_lustre = any(each.mount_path == LUSTRE_PATH for each in config.storage.file_systems)
        role, of_controllers = (f"{config.name}-Cluster-{each}Role".ljust(64, "0") for each in ("Node", "Controller"))
        roles = f"arn:{partition_of(region) or 'aws'}:iam::{account}:role"
        return cls(
            execution_role_arn=f"{roles}/{role}",
            controller_role_arn=f"{roles}/{of_controllers}" if config.has_controller_role else None,
            source_s3_uri=f"s3://{bucket}/lifecycle/{'0' * 64}/fs-0123456789abcdef0/",
            subnet_ids=list(network.node_subnet_ids) if network else ["subnet-0123456789abcdef0"],
            security_group_ids=[network.security_group_id] if network else ["sg-0123456789abcdef0"],
            file_system_dns_name=f"fs-0123456789abcdef0.fsx.{region}.amazonaws.com" if has_lustre else None,
            file_system_mount_name="abcdefgh" if has_lustre else None,
            eks_cluster_arn=_sample_eks_arn(config, account, region),
        )


def cluster_request(config: ClusterConfig, *, values: RequestValues) -> Request:
    """Return CreateCluster's input without ClusterName."""
    slurm, scales = _slurm(config), config.eks is not None and config.eks.autoscaling is Autoscaling.KARPENTER
    eks = {"Eks": {"ClusterArn": values.eks_cluster_arn}} if values.eks_cluster_arn is not None else None
    request = {
        "InstanceGroups": [_group(group, config, values) for group in config.instance_groups],
        "VpcConfig": {"SecurityGroupIds": list(values.security_group_ids), "Subnets": list(values.subnet_ids)},
        "NodeRecovery": config.node_recovery.value if config.node_recovery else None,
        "NodeProvisioningMode": CONTINUOUS if config.provisioning is Provisioning.CONTINUOUS else None,
        "Orchestrator": eks or ({"Slurm": slurm} if slurm else None),
        "AutoScaling": AUTOSCALING if scales else None,
        "ClusterRole": values.autoscaler_role_arn if scales else None,
        "Tags": [{"Key": key, "Value": value} for key, value in config.tags.items()] or None,
    }
    return merged(_given(request), {key: value for key, value in config.overrides.items() if key not in RESERVED_CLUSTER_MEMBERS})


def _given(members: Request) -> Request:
    """Return the members that have a value."""
    return {name: value for name, value in members.items() if value is not None}


def _sample_eks_arn(config: ClusterConfig, account: str, region: str) -> str | None:
    name = config.eks_cluster_name
    return f"arn:{partition_of(region) or 'aws'}:eks:{region}:{account}:cluster/{name}" if name else None


def _slurm(config: ClusterConfig) -> Request:
    """Return Orchestrator.Slurm; empty if the request does not configure Slurm, or has no settings for the whole cluster."""
    if not config.uses_slurm_api:
        return {}
    accounting, slurm = slurm_of(config).accounting, Request()
    # HyperPod rejects a strategy with continuous provisioning.
    if config.provisioning is not Provisioning.CONTINUOUS and config.overrides.get("NodeProvisioningMode") != CONTINUOUS:
        slurm["SlurmConfigStrategy"] = "Merge"  # the controller's scripts edit slurm.conf
    if accounting.database is Database.MANAGED and accounting.host and accounting.secret_arn:
        slurm["AccountingDatabase"] = {
            "Endpoint": accounting.host,
            "Port": accounting.port,
            **({"Name": accounting.schema_name} if accounting.schema_name else {}),
            "SecretArn": accounting.secret_arn,
        }
    return slurm


def _group(group: InstanceGroup, config: ClusterConfig, values: RequestValues) -> Request:
    capacity = CAPACITIES.get(group.capacity)
    request = {
        "InstanceGroupName": group.name,
        "InstanceType": group.instance_type,
        "InstanceCount": group.instance_count,
        "LifeCycleConfig": {"SourceS3Uri": values.source_s3_uri, config.lifecycle_script_member: config.lifecycle.on_create},
        "ExecutionRole": _role_arn(group, values),
        "ThreadsPerCore": group.threads_per_core,
        "MinInstanceCount": group.min_instance_count,
        "OnStartDeepHealthChecks": [check.value for check in group.deep_health_checks] or None,
        "InstanceStorageConfigs": _storage(group, config, values) or None,
        "SlurmConfig": _slurm_role(group) if config.uses_slurm_api else None,
        "KubernetesConfig": _kubernetes(group) or None,
        "CapacityRequirements": {capacity: {}} if capacity else None,
        "TrainingPlanArn": group.training_plan_arn,
        "ImageId": group.image_id,
    }
    return merged(_given(request), {key: value for key, value in group.overrides.items() if key not in RESERVED_GROUP_MEMBERS})


def _role_arn(group: InstanceGroup, values: RequestValues) -> str:
    own = values.controller_role_arn if group.role is Role.CONTROLLER else None
    return (own or values.execution_role_arn) if group.execution_role is None else group.execution_role


def _slurm_role(group: InstanceGroup) -> Request | None:
    """Return the group's part in Slurm; None without a role."""
    if group.role is None:
        return None
    return {"NodeType": NODE_TYPES[group.role], **({"PartitionNames": [group.partition]} if group.partition else {})}


def _kubernetes(group: InstanceGroup) -> Request:
    """Return the labels and taints of the group's nodes."""
    taints = [each.model_dump(mode="json", exclude_none=True) for each in group.taints]
    return {
        **({"Labels": dict(group.labels)} if group.labels else {}),
        **({"Taints": [{key.title(): value for key, value in each.items()} for each in taints]} if taints else {}),
    }


def _storage(group: InstanceGroup, config: ClusterConfig, values: RequestValues) -> list[Request]:
    """Return the group's volumes, and the file systems that HyperPod mounts."""
    volumes = _volumes(group)
    if not config.uses_slurm_api:
        return volumes
    lustre = {"DnsName": values.file_system_dns_name, "MountName": values.file_system_mount_name, "MountPath": LUSTRE_PATH}
    openzfs = config.storage.openzfs
    return [
        *volumes,
        *([{"FsxLustreConfig": lustre}] if values.file_system_dns_name else []),
        *([{"FsxOpenZfsConfig": {"DnsName": openzfs.dns_name, "MountPath": openzfs.mount_path}}] if openzfs else []),
    ]


def _volumes(group: InstanceGroup) -> list[Request]:
    """Return the additional volume and, if the group has a key, the root volume."""
    key = {"VolumeKmsKeyId": group.volume_key_arn} if group.volume_key_arn is not None else {}
    additional = [{"VolumeSizeInGB": group.volume_gib, **key}] if group.volume_gib is not None else []
    root = [{**key, "RootVolume": True}] if key else []
    return [{"EbsVolumeConfig": each} for each in (*additional, *root)]


def merged(base: Mapping[str, Any], overrides: Mapping[str, Any]) -> Request:
    """Merge overrides at every depth: lists are replaced, and null removes a member."""
    result = dict(base)
    for key, value in overrides.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, Mapping):
            below = result.get(key)
            result[key] = merged(below if isinstance(below, Mapping) else {}, value)
        else:
            result[key] = value
    return result


def request_problems(config: ClusterConfig) -> Iterator[Problem]:
    """Yield problems that the service would reject, with their paths in the file."""
    request = cluster_request(config, values=RequestValues.samples(config))
    named = {"ClusterName": config.cluster_name or config.name, **request}
    for problem in check_request(named):
        path = in_file(config, problem.path)
        yield replace(problem, path=path, fix=_with_alternative(problem.fix, path))
    yield from _unknown_nulls(config)
    size = len(json.dumps(_as_sent(request), separators=(",", ":")))
    if size > MAX_REQUEST_BYTES:
        message = f"the request has {size} bytes, but Step Functions accepts at most {MAX_REQUEST_BYTES}"
        fix = "use fewer groups or shorter overrides"
        yield Problem(("instance_groups",), f"{len(config.instance_groups)} groups", message, fix, rule="request.size")


def _with_alternative(fix: str, path: Path) -> str:
    """Return the fix with the alternative for the name of a group's partition, which scripts restrict less."""
    if path[:1] != ("instance_groups",) or path[2:] != ("partition",):
        return fix
    return f"set `{SCRIPTS_LINE}`, or {fix}"


def _unknown_nulls(config: ClusterConfig) -> Iterator[Problem]:
    """Yield unknown members that `overrides` remove by null, which the request does not contain."""
    yield from unknown_null(input_shape("CreateCluster"), config.overrides, ("overrides",))
    for index, each in numbered(config.instance_groups):
        yield from unknown_null(group_shape(), each.overrides, ("instance_groups", index, "overrides"))


def _as_sent(value: object) -> object:
    """Convert every scalar to text, as CloudFormation does for a custom resource."""
    if isinstance(value, Mapping):
        return {key: _as_sent(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_as_sent(item) for item in value]
    return str(value)
