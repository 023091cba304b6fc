"""Network and storage resources of a cluster, found by its tag."""

from collections.abc import Collection
from datetime import UTC
from typing import Any

from botocore.exceptions import ClientError

from cli.aws_errors import unless_absent
from cli.pages import listed
from cli.resource_code import Foreign, foreign_resources
from config.tags import CLUSTER_TAG


def file_systems(fsx: Any, cluster: str) -> list[dict[str, Any]]:
    """Return the cluster's file systems, newest first."""
    systems = [system for system in listed(fsx, "describe_file_systems", "FileSystems") if system["Lifecycle"] != "DELETING"]
    ours = [system for system in systems if _tags(system).get(CLUSTER_TAG) == cluster]
    return sorted(ours, key=lambda system: system["CreationTime"], reverse=True)


def data_buckets(s3: Any, cluster: str) -> list[str]:
    """Return the cluster's data buckets, newest first; CloudFormation names them after the storage stack."""
    named = [bucket for bucket in s3.list_buckets()["Buckets"] if bucket["Name"].startswith(f"{cluster}-storage-")]
    ours = [bucket for bucket in named if _bucket_tags(s3, bucket["Name"]).get(CLUSTER_TAG) == cluster]
    return [bucket["Name"] for bucket in sorted(ours, key=lambda bucket: bucket["CreationDate"], reverse=True)]


def eks_cluster(eks: Any, name: str, cluster: str) -> dict[str, Any] | None:
    """Return the cluster's EKS cluster; None if it does not exist, or belongs to another cluster."""
    found: dict[str, Any] | None = unless_absent(lambda: eks.describe_cluster(name=name)["cluster"])
    return found if found and (found.get("tags") or {}).get(CLUSTER_TAG) == cluster and found["status"] != "DELETING" else None


def network(ec2: Any, cluster: str, file_system: dict[str, Any] | None, control_plane: Collection[str] = ()) -> dict[str, Any]:
    """Return the file system's subnet and VPC as `network.existing`; empty if the cluster has none.

    The subnets of the control plane are not the nodes'.
    """
    tagged = [{"Name": f"tag:{CLUSTER_TAG}", "Values": [cluster]}]
    subnets = ec2.describe_subnets(Filters=tagged)["Subnets"]
    if file_system:
        subnets = [subnet for subnet in subnets if subnet["SubnetId"] in file_system["SubnetIds"]]  # not an older one's
    if not subnets:
        return {}
    vpc = {"Name": "vpc-id", "Values": [subnets[0]["VpcId"]]}
    public = _public_subnets(ec2, vpc)
    others = {*public, *control_plane}
    nodes = [each["SubnetId"] for each in subnets if each["VpcId"] in vpc["Values"] and each["SubnetId"] not in others]
    if not nodes:
        return {}
    return {
        "vpc_id": subnets[0]["VpcId"],
        "node_subnet_ids": nodes,
        "security_group_id": ec2.describe_security_groups(Filters=[*tagged, vpc])["SecurityGroups"][0]["GroupId"],
        # A retained cluster keeps its gateways and routes, and a VPC can have only one internet gateway.
        "internet_access": "existing" if public else "create",
    }


def foreign(ec2: Any, cluster: str) -> list[Foreign]:
    """Return what others put into the VPCs that the cluster's deployments created."""
    vpcs = ec2.describe_vpcs(Filters=[{"Name": f"tag:{CLUSTER_TAG}", "Values": [cluster]}])["Vpcs"]
    return [each for vpc in vpcs for each in foreign_resources(ec2, vpc["VpcId"], cluster)]


def has_internet(ec2: Any, vpc_id: str) -> bool:
    """Return whether the VPC has a route to the internet."""
    return bool(_public_subnets(ec2, {"Name": "vpc-id", "Values": [vpc_id]}))


def _public_subnets(ec2: Any, vpc: dict[str, Any]) -> set[str]:
    """Return the VPC's subnets with a route to an internet gateway."""
    tables = ec2.describe_route_tables(Filters=[vpc])["RouteTables"]
    ours = [table for table in tables if any(route.get("GatewayId", "").startswith("igw-") for route in table["Routes"])]
    return {each["SubnetId"] for table in ours for each in table["Associations"] if "SubnetId" in each}


def described(file_system: dict[str, Any]) -> str:
    """Return id, age, size and subnets of the file system."""
    created = file_system["CreationTime"].astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")
    subnets = ", ".join(file_system["SubnetIds"])
    return f"{file_system['FileSystemId']}: created {created}, {file_system['StorageCapacity']} GiB, in {subnets}"


def _tags(thing: dict[str, Any]) -> dict[str, str]:
    return {tag["Key"]: tag["Value"] for tag in thing.get("Tags", [])}


def _bucket_tags(s3: Any, bucket: str) -> dict[str, str]:
    try:
        return _tags({"Tags": s3.get_bucket_tagging(Bucket=bucket)["TagSet"]})
    except ClientError as error:
        if error.response["Error"]["Code"] in ("NoSuchTagSet", "AccessDenied"):
            return {}  # no tag, or no permission to read it
        raise
