"""What a teardown left in the account, each with the command that removes it."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from cli.deployment import Deployment
from cli.leftovers import file_systems, foreign
from config.bucket_names import script_bucket_name
from config.tags import CLUSTER_TAG
from tests.verify_aws.resource_code import HASH_LENGTH
from tests.verify_aws.verdicts import Leftover

LOGS = "/aws/sagemaker/Clusters/"


def leftovers(deployment: Deployment, destroy: str) -> tuple[Leftover, ...]:
    """Return all resources with the cluster's name or tag; what cannot be listed counts as left."""
    parts: Mapping[str, Callable[[], Iterable[Leftover]]] = {
        "clusters": lambda: _clusters(deployment),
        "stacks": lambda: _stacks(deployment, destroy),
        "network": lambda: _network(deployment),
        "file systems": lambda: _file_systems(deployment),
        "buckets": lambda: _buckets(deployment),
        "log groups": lambda: _logs(deployment),
    }
    found: list[Leftover] = []
    for kind, listed in parts.items():
        try:
            found += listed()
        except Exception as error:  # noqa: BLE001  the other kinds and the report must follow
            found.append(Leftover(f"unknown {kind}", repr(error), destroy))
    return tuple(found)


def clusters(deployment: Deployment) -> list[dict[str, Any]]:
    """Return the summaries of the deployment's clusters, not those of a name that only begins alike."""
    pages = deployment.client("sagemaker").get_paginator("list_clusters").paginate(NameContains=f"{deployment.config.name}-")
    summaries = (each for page in pages for each in page["ClusterSummaries"])
    return [each for each in summaries if re.fullmatch(_cluster_name(deployment), each["ClusterName"])]


def log_groups_of_nodes(deployment: Deployment) -> list[str]:
    """Return the log groups that HyperPod created for the nodes, and deletes with no cluster."""
    groups = _log_groups(deployment, f"{LOGS}{deployment.config.name}-")
    return [group for group in groups if re.fullmatch(f"{LOGS}{_cluster_name(deployment)}/[^/]+", group)]


def _cluster_name(deployment: Deployment) -> str:
    """Return the pattern of the names that the custom resource generates."""
    return f"{deployment.config.name}-[0-9a-f]{{{HASH_LENGTH}}}"


def _clusters(deployment: Deployment) -> Iterator[Leftover]:
    for cluster in clusters(deployment):
        name = cluster["ClusterName"]
        yield _left(deployment, f"cluster ({cluster['ClusterStatus']})", name, f"sagemaker delete-cluster --cluster-name {name}")


def _stacks(deployment: Deployment, destroy: str) -> Iterator[Leftover]:
    for stack in deployment.read_stacks():
        yield Leftover(f"stack ({stack.status})", stack.name, destroy)


def _network(deployment: Deployment) -> Iterator[Leftover]:
    ec2, name = deployment.client("ec2"), deployment.config.name
    tagged = [{"Name": f"tag:{CLUSTER_TAG}", "Values": [name]}]
    others = foreign(ec2, name)
    for each in others:
        yield Leftover("foreign resource", each.id, f"not ours, delete it yourself: {each.sentence}")
    for vpc in (each["VpcId"] for each in ec2.describe_vpcs(Filters=tagged)["Vpcs"]):
        within = [{"Name": "vpc-id", "Values": [vpc]}]
        interfaces = (each["NetworkInterfaceId"] for each in ec2.describe_network_interfaces(Filters=within)["NetworkInterfaces"])
        for key in set(interfaces) - {each.id for each in others}:
            yield _left(deployment, "network interface", key, f"ec2 delete-network-interface --network-interface-id {key}")
        yield _left(deployment, "VPC", vpc, f"ec2 delete-vpc --vpc-id {vpc}")
    gateways = ec2.describe_nat_gateways(Filters=tagged)["NatGateways"]
    for key in (each["NatGatewayId"] for each in gateways if each["State"] not in ("deleted", "deleting")):
        yield _left(deployment, "NAT gateway", key, f"ec2 delete-nat-gateway --nat-gateway-id {key}")
    for key in (each["AllocationId"] for each in ec2.describe_addresses(Filters=tagged)["Addresses"]):
        yield _left(deployment, "elastic address", key, f"ec2 release-address --allocation-id {key}")


def _file_systems(deployment: Deployment) -> Iterator[Leftover]:
    for each in file_systems(deployment.client("fsx"), deployment.config.name):
        key = each["FileSystemId"]
        yield _left(deployment, "file system", key, f"fsx delete-file-system --file-system-id {key}")


def _buckets(deployment: Deployment) -> Iterator[Leftover]:
    """Yield the bucket of the lifecycle scripts, and those that CloudFormation named after one of the stacks."""
    name = deployment.config.name
    ours = f"{script_bucket_name(name, '[0-9]{12}', '.*')}|({'|'.join(deployment.stack_names).lower()})-.*"
    for bucket in (each["Name"] for each in deployment.client("s3").list_buckets()["Buckets"]):
        if re.fullmatch(ours, bucket):
            yield _left(deployment, "bucket", bucket, f"s3 rb --force s3://{bucket}")


def _logs(deployment: Deployment) -> Iterator[Leftover]:
    folders = ("/aws/vendedlogs/states/", "/aws/lambda/", "")
    prefixes = [f"{folder}{stack}-" for folder in folders for stack in deployment.stack_names]
    # EKS and Container Insights create these by themselves, EKS also after the deletion of a cluster.
    prefixes += [f"/aws/{service}/{deployment.config.name}/" for service in ("containerinsights", "eks")]
    named = [group for prefix in prefixes for group in _log_groups(deployment, prefix)]
    for group in [*log_groups_of_nodes(deployment), *named]:
        yield _left(deployment, "log group", group, f"logs delete-log-group --log-group-name {group}")


def _log_groups(deployment: Deployment, prefix: str) -> list[str]:
    pages = deployment.client("logs").get_paginator("describe_log_groups").paginate(logGroupNamePrefix=prefix)
    return [group["logGroupName"] for page in pages for group in page["logGroups"]]


def _left(deployment: Deployment, kind: str, name: str, command: str) -> Leftover:
    return Leftover(kind, name, f"aws {command} --region {deployment.region}")
