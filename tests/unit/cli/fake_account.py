"""An account with what a destroy leaves, as far as `hpod` requests it."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from botocore.exceptions import ClientError

from config.tags import CLUSTER_TAG


class FakeAccount:
    """Clients for all services at once: `session.client(service)` gives the account itself."""

    region_name = "us-west-2"

    def __init__(self) -> None:
        self.systems: list[dict[str, Any]] = []
        self.buckets: list[dict[str, Any]] = []
        self.bucket_owners: dict[str, str] = {}
        self.public_subnets: list[str] = []
        self.node_subnets: list[str] = []
        self.stacks: dict[str, dict[str, str]] = {}

    def client(self, _: str) -> "FakeAccount":
        return self

    def add_file_system(self, number: int, cluster: str = "draft") -> None:
        """Make a file system with a subnet of its own; a higher number is a later one."""
        self.systems.append(
            {
                "FileSystemId": f"fs-{number:08d}",
                "Lifecycle": "AVAILABLE",
                "CreationTime": datetime(2026, 1, number, tzinfo=UTC),
                "StorageCapacity": 1200,
                "SubnetIds": [f"subnet-{number:08d}"],
                "LustreConfiguration": {"MountName": f"mount{number}"},
                "Tags": [{"Key": CLUSTER_TAG, "Value": cluster}],
            }
        )

    def add_bucket(self, number: int, cluster: str = "draft") -> None:
        """Make a data bucket; a higher number is a later one."""
        name = f"draft-storage-{number}"
        self.buckets.append({"Name": name, "CreationDate": datetime(2026, 1, number, tzinfo=UTC)})
        self.bucket_owners[name] = cluster

    def get_paginator(self, _: str) -> "FakeAccount":
        return self

    def paginate(self) -> Iterator[dict[str, Any]]:
        yield from ({"FileSystems": [system]} for system in self.systems)

    def list_buckets(self) -> dict[str, Any]:
        return {"Buckets": self.buckets}

    def get_bucket_tagging(self, **asked: str) -> dict[str, Any]:
        return {"TagSet": [{"Key": CLUSTER_TAG, "Value": self.bucket_owners[asked["Bucket"]]}]}

    def describe_subnets(self, **asked: Any) -> dict[str, Any]:
        [tag] = asked["Filters"]
        wanted = {"Key": tag["Name"].removeprefix("tag:"), "Value": tag["Values"][0]}
        ids = [subnet for system in self.systems if wanted in system["Tags"] for subnet in system["SubnetIds"]]
        return {"Subnets": [self._subnet(each) for each in [*self.public_subnets, *self.node_subnets, *ids]]}

    def describe_route_tables(self, **asked: Any) -> dict[str, Any]:
        [vpc] = asked["Filters"]
        public = [each for each in map(self._subnet, self.public_subnets) if each["VpcId"] in vpc["Values"]]
        local = {"GatewayId": "local", "DestinationCidrBlock": "10.0.0.0/16"}
        own = {"Routes": [local, {"GatewayId": "igw-1"}], "Associations": [{"SubnetId": each["SubnetId"]} for each in public]}
        others = {"Routes": [local, {"NatGatewayId": "nat-1"}], "Associations": [{"Main": True}]}
        return {"RouteTables": [others, *([own] if public else [])]}

    def describe_vpcs(self, **_: Any) -> dict[str, Any]:
        return {"Vpcs": []}

    @staticmethod
    def _subnet(subnet_id: str) -> dict[str, str]:
        """A public subnet is in the VPC of the subnet whose number it ends in."""
        return {"SubnetId": subnet_id, "VpcId": f"vpc-0000000{subnet_id[-1]}"}

    def describe_security_groups(self, **asked: Any) -> dict[str, Any]:
        vpc = asked["Filters"][1]["Values"][0]
        return {"SecurityGroups": [{"GroupId": vpc.replace("vpc", "sg")}]}

    def describe_stacks(self, **asked: str) -> dict[str, Any]:
        name = asked["StackName"]
        if name not in self.stacks:
            raise ClientError({"Error": {"Code": "ValidationError", "Message": f"Stack {name} does not exist"}}, "DescribeStacks")
        outputs = [{"OutputKey": key, "OutputValue": value, "Description": key} for key, value in self.stacks[name].items()]
        return {"Stacks": [{"StackStatus": "CREATE_COMPLETE", "Outputs": outputs}]}
