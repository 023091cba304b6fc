"""Builds the CreateCluster request that a cluster file asks for, and checks it against the service model."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from cluster_request.request_check import check_request, unknown_null
from cluster_request.service_model import group_shape, input_shape
from config.errors import Path, Problem
from config.instance_group import InstanceGroup
from config.model import ClusterConfig

# CreateCluster's input, as JSON.
Request = dict[str, Any]

# Step Functions takes 256 KiB of input. CloudFormation's event carries the new and the old request; 16 KiB are left for all else.
LARGEST_REQUEST = (256 - 16) * 1024 // 2

# Members on which other things stand (names, ownership, Slurm's parameters): a rule refuses to override them.
NOT_OVERRIDDEN = {"ClusterName": "cluster_name", "InstanceGroups": "instance_groups", "Tags": "tags"}
NOT_OVERRIDDEN_IN_A_GROUP = {"InstanceGroupName": "name", "InstanceCount": "instance_count"}

# Which field sets a member of the request.
FIELDS_OF_A_GROUP = {
    "InstanceGroupName": "name",
    "InstanceType": "instance_type",
    "InstanceCount": "instance_count",
    "ThreadsPerCore": "threads_per_core",
    "OnStartDeepHealthChecks": "deep_health_checks",
    "InstanceStorageConfigs": "volume_gib",
}
FIELDS_OF_THE_CLUSTER = {
    "ClusterName": "cluster_name",
    "InstanceGroups": "instance_groups",
    "NodeRecovery": "node_recovery",
    "Tags": "tags",
}


@dataclass(frozen=True)
class RequestValues:
    """The values of a request that are known only when the stacks are deployed; the construct gives tokens."""

    execution_role_arn: str
    source_s3_uri: str
    subnet_ids: Sequence[str]
    security_group_ids: Sequence[str]

    @classmethod
    def samples(cls, config: ClusterConfig) -> Self:
        """Well-formed values that stand in while the request is checked, as long as real ones can be."""
        account, region = config.account or "123456789012", config.region or "us-east-1"
        network = config.network.existing
        bucket = f"sagemaker-{config.name}-{account}-{region}-{'0' * 12}"
        return cls(
            execution_role_arn=f"arn:aws:iam::{account}:role/{f'{config.name}-Cluster-NodeRole'.ljust(64, '0')}",
            source_s3_uri=f"s3://{bucket}/lifecycle/{'0' * 64}/fs-0123456789abcdef0/",
            subnet_ids=list(network.node_subnet_ids) if network else ["subnet-0123456789abcdef0"],
            security_group_ids=[network.security_group_id] if network else ["sg-0123456789abcdef0"],
        )


def cluster_request(config: ClusterConfig, *, values: RequestValues) -> Request:
    """CreateCluster's input without ClusterName: what the file asks for, and nothing else."""
    request: Request = {
        "InstanceGroups": [_group(group, config, values) for group in config.instance_groups],
        "VpcConfig": {"SecurityGroupIds": list(values.security_group_ids), "Subnets": list(values.subnet_ids)},
    }
    if config.node_recovery is not None:
        request["NodeRecovery"] = config.node_recovery.value
    if config.tags:
        request["Tags"] = [{"Key": key, "Value": value} for key, value in config.tags.items()]
    return merged(request, {key: value for key, value in config.overrides.items() if key not in NOT_OVERRIDDEN})


def _group(group: InstanceGroup, config: ClusterConfig, values: RequestValues) -> Request:
    request: Request = {
        "InstanceGroupName": group.name,
        "InstanceType": group.instance_type,
        "InstanceCount": group.instance_count,
        "LifeCycleConfig": {"SourceS3Uri": values.source_s3_uri, "OnCreate": config.lifecycle.on_create},
        "ExecutionRole": values.execution_role_arn,
        "ThreadsPerCore": group.threads_per_core,
    }
    if group.deep_health_checks:
        request["OnStartDeepHealthChecks"] = [check.value for check in group.deep_health_checks]
    if group.volume_gib is not None:
        request["InstanceStorageConfigs"] = [{"EbsVolumeConfig": {"VolumeSizeInGB": group.volume_gib}}]
    return merged(request, {key: value for key, value in group.overrides.items() if key not in NOT_OVERRIDDEN_IN_A_GROUP})


def merged(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> Request:
    """Our members with theirs put over them at every depth: lists are replaced whole, and null takes a member away."""
    result = dict(ours)
    for key, value in theirs.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, Mapping):
            below = result.get(key)
            result[key] = merged(below if isinstance(below, Mapping) else {}, value)
        else:
            result[key] = value
    return result


def request_problems(config: ClusterConfig) -> Iterator[Problem]:
    """What the service would refuse of the config's request, by the path in the file."""
    request = cluster_request(config, values=RequestValues.samples(config))
    named = {"ClusterName": config.cluster_name or config.name, **request}
    for problem in check_request(named):
        yield replace(problem, path=in_file(config, problem.path))
    yield from _left_out_of_nothing(config)
    size = len(json.dumps(_as_sent(request), separators=(",", ":")))
    if size > LARGEST_REQUEST:
        message = (
            f"the request has {size} bytes, and at most {LARGEST_REQUEST} fit, as Step Functions takes 256 KiB of an event that "
            "carries the old and the new request; use fewer groups or shorter overrides"
        )
        yield Problem(("instance_groups",), f"{len(config.instance_groups)} groups", message, rule="request.size")


def _left_out_of_nothing(config: ClusterConfig) -> Iterator[Problem]:
    """What `overrides` leave out by null although the API has nothing of that name, which the request does not show."""
    yield from unknown_null(input_shape("CreateCluster"), config.overrides, ("overrides",))
    for index, each in enumerate(config.instance_groups):
        yield from unknown_null(group_shape(), each.overrides, ("instance_groups", index, "overrides"))


def _as_sent(value: object) -> object:
    """The value as CloudFormation sends it to a custom resource: every scalar is text."""
    if isinstance(value, Mapping):
        return {key: _as_sent(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_as_sent(item) for item in value]
    return str(value)


def in_file(config: ClusterConfig, path: Path) -> Path:
    """Where in the file the member of the request at ``path`` comes from."""
    match path:
        case ("InstanceGroups", int(index), str(member), *rest):
            field = FIELDS_OF_A_GROUP.get(member)
            if field and member not in config.instance_groups[index].overrides:
                return ("instance_groups", index, field)
            return ("instance_groups", index, "overrides", member, *rest)
        case ("Tags", int(index), *_):
            return ("tags", list(config.tags)[index])
        case (str(member),) if member in FIELDS_OF_THE_CLUSTER and member not in config.overrides:
            return (FIELDS_OF_THE_CLUSTER[member],)
    return ("overrides", *path)
