"""A cluster that runs, as its account shows it."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from config.imports import Choices, Keep, Original
from config.imports.json_file import JsonFile, read_json
from config.imports.kinds import PARAMETERS as PARAMETERS_KIND
from config.imports.kinds import demand
from config.imports.original import GROUPS, VPC
from config.request import Request
from ops.errors import OpsError
from ops.imports.described import images_note, request_of
from ops.remedies import explained
from ops.resource_code import ApiError, Cluster, ClusterApi

PARAMETERS = "provisioning_parameters.json"


def read_live(name: str, parameters: Path | None, choices: Choices, session: Any = None) -> tuple[Original, Choices]:
    """The cluster, and the choices that its account answers; an OpsError tells of an AWS that refuses or is silent."""
    try:
        session = session or boto3.Session(region_name=choices.region)
        if session.region_name is None:
            raise OpsError(f"nothing says in which region cluster {name} is; give --region")
        cluster = _cluster(session, name)
        request = request_of(cluster)
        original = Original(
            request, request_file=f"cluster {name}", parameters_file=str(parameters or PARAMETERS), notes=images_note(cluster)
        )
        if parameters:
            original = _with_parameters(original, read_json(parameters))
        else:
            original = replace(original, parameters=_stored(session, request))
        return original, _answered(session, request, choices)
    except (ClientError, BotoCoreError) as error:
        raise OpsError(explained("import", error)) from error


def _client(session: Any, service: str) -> Any:
    try:
        return session.client(service)
    except ValueError as error:  # botocore's for an endpoint that is no URL
        raise OpsError(f"{error}; set AWS_ENDPOINT_URL to a URL, or unset it") from error


def _cluster(session: Any, name: str) -> Cluster:
    try:
        cluster: Cluster | None = ClusterApi(_client(session, "sagemaker")).cluster(name, is_deletion=False)
    except ApiError as error:
        raise error.__cause__ or error from None
    if cluster is None:
        raise OpsError(f"there is no cluster {name} in {session.region_name}; correct the name, or give --region")
    return cluster


def _with_parameters(original: Original, file: JsonFile) -> Original:
    demand(file, PARAMETERS_KIND)
    if not isinstance(file.content, dict):
        raise OpsError(f"{file.name} is not the scripts' provisioning parameters; give a file with a JSON object")
    return replace(original, parameters=file.content, files={file.name: file})


def _stored(session: Any, request: Request) -> dict[str, Any] | None:
    """The parameters beside the cluster's scripts; None where there are none, and the groups' SlurmConfig has to tell."""
    sources = [group.get("LifeCycleConfig", {}).get("SourceS3Uri") for group in request[GROUPS]]
    place = urlsplit(next((source for source in sources if source), ""))
    if place.scheme != "s3" or all("SlurmConfig" in group for group in request[GROUPS]):
        return None
    key = f"{place.path.strip('/')}/{PARAMETERS}".lstrip("/")
    try:
        body = _client(session, "s3").get_object(Bucket=place.netloc, Key=key)["Body"].read()
        content = json.loads(body)
    except ClientError as error:
        said = error.response["Error"].get("Message") or error
        raise OpsError(f"cannot read s3://{place.netloc}/{key}: {said}; give {PARAMETERS} as a file") from error
    except ValueError as error:
        raise OpsError(f"s3://{place.netloc}/{key} is no JSON: {error}; give {PARAMETERS} as a file") from error
    return content if isinstance(content, dict) else None


def _answered(session: Any, request: Request, choices: Choices) -> Choices:
    """The choices with region, zone and VPC as the account has them."""
    region = choices.region or session.region_name
    if choices.keep is Keep.NOTHING or VPC not in request:
        return replace(choices, region=region)
    ec2 = _client(session, "ec2")
    [subnet, *_] = ec2.describe_subnets(SubnetIds=request[VPC]["Subnets"])["Subnets"]
    for option, ours, theirs in (
        ("--zone", choices.zone, subnet["AvailabilityZoneId"]),
        ("--vpc", choices.vpc_id, subnet["VpcId"]),
    ):
        if ours not in (None, theirs):
            raise OpsError(f"{option} {ours} contradicts {subnet['SubnetId']}, which is in {theirs}; leave {option} out")
    [vpc] = ec2.describe_vpcs(VpcIds=[subnet["VpcId"]])["Vpcs"]
    return replace(
        choices,
        region=region,
        zone=subnet["AvailabilityZoneId"],
        vpc_id=subnet["VpcId"],
        vpc_cidr=vpc["CidrBlock"],
        adopt=choices.keep is Keep.EVERYTHING,
    )
