"""`python -m ops retained CLUSTER`: what a destroy left, as the lines that let the next deployment use it."""

from typing import Any

import yaml
from botocore.exceptions import ClientError

from ops.deployment import Deployment
from ops.errors import OpsError

CLUSTER_TAG = "hyperpod-cdk:cluster"


def retained(deployment: Deployment) -> str:
    """What is left of a destroyed cluster, as lines for its file; they are found by our tag."""
    name = deployment.config.name
    if deployment.stacks():
        raise OpsError(f"cluster {name!r} is deployed: nothing is left over; the outputs ...AfterDestroy say what would be")
    systems = _file_systems(deployment.client("fsx"), name)
    newest = max(systems, key=lambda system: system["CreationTime"], default=None)
    sections = {"network": _network(deployment.client("ec2"), name, newest), "storage": _storage(deployment, name, newest)}
    found = {section: fields for section, fields in sections.items() if fields}
    if not found:
        return f"nothing of cluster {name!r} is left"
    head = (
        f"# left of cluster {name}; in clusters/{name}.yaml, add network.existing to your network section,\n"
        "# put storage.existing in place of storage.lustre, and storage.data_bucket in place of yours\n"
    )
    text: str = yaml.safe_dump(found, sort_keys=False, default_flow_style=False)
    return head + text.rstrip()


def _network(ec2: Any, name: str, file_system: dict[str, Any] | None) -> dict[str, Any]:
    """The subnet of the file system and what it is in; older subnets of the cluster hold older file systems."""
    tagged = [{"Name": f"tag:{CLUSTER_TAG}", "Values": [name]}]
    subnets = ec2.describe_subnets(Filters=tagged)["Subnets"]
    if file_system:
        subnets = [subnet for subnet in subnets if subnet["SubnetId"] in file_system["SubnetIds"]]  # not an older one's
    if not subnets:
        return {}
    in_vpc = [*tagged, {"Name": "vpc-id", "Values": [subnets[0]["VpcId"]]}]
    return {
        "existing": {
            "vpc_id": subnets[0]["VpcId"],
            "node_subnet_ids": [subnet["SubnetId"] for subnet in subnets],
            "security_group_id": ec2.describe_security_groups(Filters=in_vpc)["SecurityGroups"][0]["GroupId"],
            "internet_access": "create",
        }
    }


def _storage(deployment: Deployment, name: str, file_system: dict[str, Any] | None) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if file_system:
        mount_name = file_system["LustreConfiguration"]["MountName"]
        found["existing"] = {"file_system_id": file_system["FileSystemId"], "mount_name": mount_name}
    bucket = _data_bucket(deployment.client("s3"), name)
    return {**found, "data_bucket": {"existing": bucket}} if bucket else found


def _file_systems(fsx: Any, name: str) -> list[dict[str, Any]]:
    pages = fsx.get_paginator("describe_file_systems").paginate()
    systems = [system for page in pages for system in page["FileSystems"] if system["Lifecycle"] != "DELETING"]
    return [system for system in systems if _tags(system).get(CLUSTER_TAG) == name]


def _tags(thing: dict[str, Any]) -> dict[str, str]:
    return {tag["Key"]: tag["Value"] for tag in thing.get("Tags", [])}


def _data_bucket(s3: Any, name: str) -> str | None:
    """The newest bucket with the cluster's tag of those that CloudFormation named after its storage stack."""
    named = [bucket for bucket in s3.list_buckets()["Buckets"] if bucket["Name"].startswith(f"{name}-storage-")]
    buckets = [bucket for bucket in named if _bucket_tags(s3, bucket["Name"]).get(CLUSTER_TAG) == name]
    newest = max(buckets, key=lambda bucket: bucket["CreationDate"], default=None)
    return str(newest["Name"]) if newest else None


def _bucket_tags(s3: Any, bucket: str) -> dict[str, str]:
    try:
        return _tags({"Tags": s3.get_bucket_tagging(Bucket=bucket)["TagSet"]})
    except ClientError as error:
        if error.response["Error"]["Code"] in ("NoSuchTagSet", "AccessDenied"):
            return {}  # without our tag, or not for us to read: not ours
        raise
