"""What the tests of clusters do over and over, in an account with all that a cluster needs."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import boto3
from botocore.config import Config

from local_aws import iam
from local_aws.credentials import OWNER, Owner
from local_aws.hyperpod import service_behaviour

REGION = "us-west-2"
BUCKET = "sagemaker-scripts"
Hold: TypeAlias = Callable[[str], None]
Caller: TypeAlias = Callable[..., Any]
NODES_DO = (
    *(f"ec2:Describe{what}" for what in ("Subnets", "SecurityGroups", "Vpcs", "DhcpOptions", "NetworkInterfaces")),
    *("ec2:CreateNetworkInterface", "ec2:CreateNetworkInterfacePermission", "ec2:CreateTags", "ec2:DetachNetworkInterface"),
    *("ec2:DeleteNetworkInterface", "ec2:DeleteNetworkInterfacePermission", "s3:GetObject", "s3:ListBucket"),
    *("logs:CreateLogGroup", "logs:CreateLogStream", "logs:PutLogEvents"),
)


@dataclass
class World:
    """Clients of the embedded AWS, and what was made there before the test."""

    endpoint: str
    ids: dict[str, str] = field(default_factory=dict)
    owner: Owner = OWNER

    def client(self, service: str, session: iam.Session | None = None, retries: int = 3) -> Any:
        keys = session.client_keys if session else self.owner.client_keys
        config = Config(retries={"total_max_attempts": retries + 1, "mode": "standard"})
        return boto3.client(service, endpoint_url=self.endpoint, region_name=REGION, config=config, **keys)

    @cached_property
    def sagemaker(self) -> Any:
        return self.client("sagemaker")

    @cached_property
    def ec2(self) -> Any:
        return self.client("ec2")

    def make(self) -> None:
        """Make what every cluster needs."""
        self._make_network()
        trust = {"Effect": "Allow", "Principal": {"Service": "sagemaker.amazonaws.com"}, "Action": "sts:AssumeRole"}
        document = json.dumps({"Version": "2012-10-17", "Statement": [trust]})
        role = self.client("iam").create_role(RoleName="nodes", AssumeRolePolicyDocument=document)["Role"]
        self.ids["role"] = role["Arn"]
        self.client("s3").create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION})
        self.put_script("on_create.sh", "#!/bin/bash\n")

    def put_script(self, name: str, content: str) -> None:
        """Put a file among the lifecycle scripts."""
        self.client("s3").put_object(Bucket=BUCKET, Key=f"lifecycle/1/{name}", Body=content.encode())

    def _make_network(self) -> None:
        ec2 = self.ec2
        vpc = ec2.create_vpc(CidrBlock="10.1.0.0/16")["Vpc"]["VpcId"]
        subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.1.0.0/24", AvailabilityZone=f"{REGION}a")["Subnet"]["SubnetId"]
        group = ec2.create_security_group(VpcId=vpc, GroupName="cluster", Description="cluster")["GroupId"]
        itself = [{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": group}]}]
        ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=itself)
        ec2.authorize_security_group_egress(GroupId=group, IpPermissions=itself)
        self.ids |= {"vpc": vpc, "subnet": subnet, "security_group": group}

    def route_to_aws(self) -> None:
        """Give the subnet a NAT gateway: nodes that start from now on reach AWS."""
        gateway = self.ec2.create_nat_gateway(SubnetId=self.ids["subnet"], ConnectivityType="private")["NatGateway"]
        [table] = self.ec2.describe_route_tables(Filters=[{"Name": "vpc-id", "Values": [self.ids["vpc"]]}])["RouteTables"]
        route = {"DestinationCidrBlock": "0.0.0.0/0", "NatGatewayId": gateway["NatGatewayId"]}
        self.ec2.create_route(RouteTableId=table["RouteTableId"], **route)

    def secret(self, name: str, text: str) -> str:
        """Create a secret that the execution role may read; its ARN."""
        arn = str(self.client("secretsmanager").create_secret(Name=name, SecretString=text)["ARN"])
        self.allow("secretsmanager:GetSecretValue", resource=arn, name=f"secret-{name}")
        return arn

    @property
    def role(self) -> str:
        return self.ids["role"]

    def allow(self, *actions: str, resource: str = "*", name: str = "nodes") -> None:
        """Let the execution role do these actions, and no others but what policies of other names let it."""
        statement = {"Effect": "Allow", "Action": list(actions), "Resource": resource}
        document = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
        self.client("iam").put_role_policy(RoleName="nodes", PolicyName=name, PolicyDocument=document)

    def allow_all_but(self, *actions: str) -> None:
        """Let the execution role do all that HyperPod does with it but these."""
        self.allow(*(action for action in NODES_DO if action not in actions))

    def until(self, look: Callable[[], Any], ok: Callable[[Any], bool]) -> Any:
        return until(look, ok)

    def group(self, name: str, count: int = 1, **more: Any) -> dict[str, Any]:
        """An instance group of a request."""
        scripts = {"SourceS3Uri": f"s3://{BUCKET}/lifecycle/1/", "OnCreate": "on_create.sh"}
        group = {"InstanceGroupName": name, "InstanceCount": count, "InstanceType": "ml.c5.xlarge"}
        return group | {"ExecutionRole": self.role, "LifeCycleConfig": scripts, "ThreadsPerCore": 1} | more

    def vpc(self) -> dict[str, list[str]]:
        return {"SecurityGroupIds": [self.ids["security_group"]], "Subnets": [self.ids["subnet"]]}

    def create(self, *groups: dict[str, Any], name: str = "ml", **more: Any) -> str:
        """Ask for a cluster, which DescribeCluster shows at once; its ARN."""
        service_behaviour.choose({"describe_cluster": "current"})
        request = {"ClusterName": name, "VpcConfig": self.vpc(), "InstanceGroups": list(groups)} | more
        return str(self.sagemaker.create_cluster(**request)["ClusterArn"])

    def cluster(self, name: str = "ml") -> dict[str, Any]:
        return dict(self.sagemaker.describe_cluster(ClusterName=name))

    def nodes(self, name: str = "ml") -> list[dict[str, Any]]:
        return list(self.sagemaker.list_cluster_nodes(ClusterName=name)["ClusterNodeSummaries"])

    def until_status(self, *statuses: str, name: str = "ml") -> dict[str, Any]:
        """The cluster once it is in one of the states."""
        return dict(until(lambda: self.cluster(name), lambda cluster: cluster["ClusterStatus"] in statuses))

    def until_gone(self, name: str = "ml") -> None:
        until(
            lambda: [c["ClusterName"] for c in self.sagemaker.list_clusters()["ClusterSummaries"]],
            lambda names: name not in names,
        )

    def in_service(self, *groups: dict[str, Any], name: str = "ml", **more: Any) -> dict[str, Any]:
        """A cluster that has come up, or failed to."""
        self.create(*groups, name=name, **more)
        return self.until_status("InService", "Failed", name=name)

    def interfaces(self) -> list[dict[str, Any]]:
        return list(self.ec2.describe_network_interfaces()["NetworkInterfaces"])


def until(look: Callable[[], Any], ok: Callable[[Any], bool], seconds: float = 60) -> Any:
    """What ``look`` sees once ``ok`` is content with it; the last sight is in the error."""
    start = time.monotonic()
    while not ok(seen := look()):
        waited = time.monotonic() - start
        assert waited < seconds, f"still not so after {seconds} s: {seen}"
        # Each look is a request or a program on a node: a long wait must not take the processor from what it waits for.
        time.sleep(min(max(waited / 10, 0.01), 0.25))
    return seen
