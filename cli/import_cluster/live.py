"""A running cluster, as its account describes it."""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import boto3
from botocore.exceptions import BotoCoreError, ClientError
from botocore.parsers import ResponseParserError

from cli.access import asked_region, check_account, client_of
from cli.aws_errors import explained
from cli.errors import CommandError
from cli.import_cluster import Choices, Original
from cli.import_cluster.json_file import JsonFile, read_json
from cli.import_cluster.original import GROUPS, VPC, demand, eks_arn_of, without
from cli.import_cluster.original import PARAMETERS as PARAMETERS_KIND
from cli.import_cluster.place import placed
from cli.ownership import cluster_named
from cli.resource_code import Cluster, ClusterApi, Group
from cluster_request.request import Request
from cluster_request.request_check import check_request
from cluster_request.service_model import input_shape, shape
from config.model import ClusterConfig
from validation.load import parse_cluster

PARAMETERS = "provisioning_parameters.json"
IMAGES = ("ImageId", "ImageReleaseVersion")


def read_live(
    name: str, parameters: Path | None, choices: Choices, session: Any = None, file: Path | None = None
) -> tuple[Original, Choices]:
    """Return the cluster, and the choices completed from its account; raise a CommandError if AWS refuses or does not answer."""
    try:
        session = session or boto3.Session(profile_name=choices.profile, region_name=asked_region(choices.region))
        if session.region_name is None:
            raise CommandError(f"no region for cluster {name}", "pass --region, or set AWS_REGION")
        _check_account(session, file)
        cluster = _cluster(session, name)
        request = request_of(cluster)
        original = Original(
            request, request_file=f"cluster {name}", parameters_file=str(parameters or PARAMETERS), notes=images_note(cluster)
        )
        if parameters:
            original = _with_parameters(original, read_json(parameters))
        else:
            original = replace(original, parameters=_stored(session, request))
        return placed(client_of(session, "ec2"), original, replace(choices, region=choices.region or session.region_name))
    except (ClientError, BotoCoreError, ResponseParserError) as error:
        raise explained("import", error) from error


def _check_account(session: Any, file: Path | None) -> None:
    """Refuse credentials of another account than that of the file that is written over."""
    if file is None or not file.is_file():
        return
    config = parse_cluster(file.read_bytes(), file.stem, file.parent)
    if isinstance(config, ClusterConfig):  # a file with errors has no reliable account
        check_account(config, file, client_of(session, "sts"))


def _cluster(session: Any, name: str) -> Cluster:
    if check_request({"ClusterName": name}, "DescribeCluster"):
        raise CommandError(f"--from-cluster: {name} is not a cluster name or ARN", "`aws sagemaker list-clusters` lists them")
    cluster = cluster_named(ClusterApi(client_of(session, "sagemaker")), name)
    if cluster is None:
        raise CommandError(f"no cluster {name} in {session.region_name}", "correct the name, or pass --region")
    return cluster


def _with_parameters(original: Original, file: JsonFile) -> Original:
    demand(file, PARAMETERS_KIND)
    if not isinstance(file.content, dict):
        raise CommandError(f"{file.name} is not provisioning parameters", "pass a file with a JSON object")
    return replace(original, parameters=file.content, files={file.name: file})


def _stored(session: Any, request: Request) -> dict[str, Any] | None:
    """Return the parameters stored beside the cluster's scripts; None if the groups need none."""
    sources = [group.get("LifeCycleConfig", {}).get("SourceS3Uri") for group in request[GROUPS]]
    place = urlsplit(next((source for source in sources if source), ""))
    is_known = eks_arn_of(request) is not None or all("SlurmConfig" in group for group in request[GROUPS])
    if place.scheme != "s3" or is_known:
        return None
    key = f"{place.path.strip('/')}/{PARAMETERS}".lstrip("/")
    try:
        body = client_of(session, "s3").get_object(Bucket=place.netloc, Key=key)["Body"].read()
        content = json.loads(body)
    except ClientError as error:
        message = error.response["Error"].get("Message") or error
        raise CommandError(f"cannot read s3://{place.netloc}/{key}: {message}", f"pass {PARAMETERS} as a file") from error
    except (ValueError, RecursionError) as error:
        raise CommandError(f"s3://{place.netloc}/{key} is not JSON: {error}", f"pass {PARAMETERS} as a file") from error
    if not isinstance(content, dict):
        raise CommandError(f"s3://{place.netloc}/{key} is not a JSON object", f"pass {PARAMETERS} as a file")
    return content


def request_of(cluster: Cluster) -> Request:
    """Return the request that would create this cluster, without members that only DescribeCluster has."""
    groups: Request = {}
    for group in cluster.groups:
        groups.setdefault(group.kind, []).append({**_asked_for(group, cluster), "InstanceCount": group.target})
    network = {VPC: cluster.description[VPC]} if cluster.description.get(VPC) else {}
    tags = [{"Key": key, "Value": value} for key, value in cluster.tags.items()]
    found = {"ClusterName": cluster.name, GROUPS: [], **groups, **network, **cluster.settings, **({"Tags": tags} if tags else {})}
    request: Request = _known(found, input_shape("CreateCluster"))
    return request


def _asked_for(group: Group, cluster: Cluster) -> Request:
    """Return the group's specification without values that the service has set, which would pin them."""
    specification = without(group.specification, *_not_pinned(group, cluster))
    if "AutoPatchConfig" in specification and "DesiredPatchSchedule" not in _described(group, cluster)["AutoPatchConfig"]:
        specification["AutoPatchConfig"] = without(specification["AutoPatchConfig"], "PatchSchedule")
    return _without_defaults(specification)


def _without_defaults(specification: Request) -> Request:
    """Return the specification without defaults that DescribeCluster may add and that no file has to set."""
    found = {name: value for name, value in specification.items() if (name, value) != ("MinInstanceCount", 0)}
    if "InstanceStorageConfigs" in found:
        found["InstanceStorageConfigs"] = [_without_root_volume(item) for item in found["InstanceStorageConfigs"]]
    return found


def _without_root_volume(item: Request) -> Request:
    """Return a storage configuration without `RootVolume: false`."""
    volume = item.get("EbsVolumeConfig") or {}
    if volume.get("RootVolume", True):
        return item
    return {**item, "EbsVolumeConfig": without(volume, "RootVolume")}


def _not_pinned(group: Group, cluster: Cluster) -> list[str]:
    """Return the names of images that were not requested: the service chose them, and will choose newer ones."""
    described = _described(group, cluster)
    return [name for name in IMAGES if name in group.specification and f"Desired{name}" not in described]


def _described(group: Group, cluster: Cluster) -> Mapping[str, Any]:
    """Return the group as DescribeCluster returns it."""
    found: Mapping[str, Any] = next(each for each in cluster.description[group.kind] if each["InstanceGroupName"] == group.name)
    return found


def images_note(cluster: Cluster) -> tuple[str, ...]:
    """Return the comments on images that the request leaves out."""
    images = {group.name: [group.specification[name] for name in _not_pinned(group, cluster)] for group in cluster.groups}
    return tuple(f"Not pinned: {name} has the image {', '.join(found)} now." for name, found in images.items() if found)


def _known(value: Any, name: str) -> Any:
    """Return the value without members that the shape does not have, and with times as text."""
    model = shape(name)
    match value:
        case datetime():
            return value.isoformat()
        case Mapping() if model["type"] == "structure":
            members = {key: member["shape"] for key, member in model["members"].items()}
            return {key: _known(value[key], members[key]) for key in value if key in members and value[key] is not None}
        case list() if model["type"] == "list":
            return [_known(item, model["member"]["shape"]) for item in value]
    return value
