"""A running cluster, as its account describes it."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import boto3
from botocore.exceptions import BotoCoreError, ClientError
from botocore.parsers import ResponseParserError

from cli.access import asked_region, check_account, client_of
from cli.aws_errors import explained
from cli.errors import CommandError
from cli.import_cluster import Choices, Keep, Original
from cli.import_cluster.described import images_note, request_of
from cli.import_cluster.json_file import JsonFile, read_json
from cli.import_cluster.original import GROUPS, VPC, demand, eks_arn_of
from cli.import_cluster.original import PARAMETERS as PARAMETERS_KIND
from cli.ownership import cluster_named
from cli.resource_code import Cluster, ClusterApi
from cluster_request.request import Request
from cluster_request.request_check import check_request
from config.model import ClusterConfig
from validation.load import parse_cluster

PARAMETERS = "provisioning_parameters.json"


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
        return _placed(session, original, choices)
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


def _placed(session: Any, original: Original, choices: Choices) -> tuple[Original, Choices]:
    """Return the choices with the account's region, zone and VPC, and a note if there are several zones."""
    request, region = original.request, choices.region or session.region_name
    is_anew = choices.keep is Keep.NOTHING
    if VPC not in request or (is_anew and choices.zone):
        return original, replace(choices, region=region)
    ec2 = client_of(session, "ec2")
    found = {each["SubnetId"]: each for each in ec2.describe_subnets(SubnetIds=request[VPC]["Subnets"])["Subnets"]}
    subnets = [found[each] for each in request[VPC]["Subnets"]]  # in the request's order, which EC2 does not keep
    noted = replace(original, notes=(*original.notes, *_zones_note(subnets)))
    if is_anew:  # a new network is also in the zone of the capacity
        return noted, replace(choices, region=region, zone=subnets[0]["AvailabilityZoneId"])
    _refuse_contradictions(choices, subnets[0])
    [vpc] = ec2.describe_vpcs(VpcIds=[subnets[0]["VpcId"]])["Vpcs"]
    placed = replace(
        choices,
        region=region,
        zone=subnets[0]["AvailabilityZoneId"],
        vpc_id=subnets[0]["VpcId"],
        vpc_cidr=vpc["CidrBlock"],
        adopt=choices.keep is Keep.EVERYTHING,
    )
    return noted, placed


def _refuse_contradictions(choices: Choices, subnet: dict[str, Any]) -> None:
    for option, ours, theirs in (
        ("--zone", choices.zone, subnet["AvailabilityZoneId"]),
        ("--vpc", choices.vpc_id, subnet["VpcId"]),
    ):
        if ours not in (None, theirs):
            raise CommandError(f"{option} {ours} contradicts {subnet['SubnetId']}, which is in {theirs}", f"remove {option}")


def _zones_note(subnets: list[dict[str, Any]]) -> tuple[str, ...]:
    """Return the comment on subnets in several zones: the file has one zone for all nodes."""
    if len({each["AvailabilityZoneId"] for each in subnets}) == 1:
        return ()
    listed = ", ".join(f"{each['SubnetId']} in {each['AvailabilityZoneId']}" for each in subnets)
    return (f"The subnets are in several zones ({listed}); the file has the first subnet's zone.",)
