"""The account of the EKS tests, and a fake of Kubernetes' programs."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import boto3

from local_aws.credentials import OWNER
from local_aws.eks.control_planes import ControlPlaneError, Programs, Request
from tests.simulator.eks.fake_server import FakeServer

REGION, ACCOUNT = "us-west-2", "123456789012"
ROLE = f"arn:aws:iam::{ACCOUNT}:role/eks"
PODS = f"arn:aws:iam::{ACCOUNT}:role/pods"
VIEWER = f"arn:aws:iam::{ACCOUNT}:role/people/viewer"
POLICY = "arn:aws:eks::aws:cluster-access-policy/AmazonEKS{}Policy"
ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles/"


@dataclass
class FakePlane:
    """A control plane without processes; ``objects`` are its answers by path."""

    webhooks: dict[str, str]
    endpoint: str = "https://127.0.0.1:6443"
    certificate_authority: str = "-----BEGIN CERTIFICATE-----"
    is_running: bool = True
    admits: Callable[[str], bool] = lambda _: True
    objects: dict[str, Any] = field(default_factory=lambda: {"/api/v1/nodes": {"items": []}})
    server: FakeServer = field(default_factory=FakeServer)

    def stop(self) -> None:
        self.is_running = False


@dataclass
class FakePrograms:
    """What starts control planes; tests set what is missing, and why a start fails."""

    missing: list[str] = field(default_factory=list)
    problem: str = ""
    defect: str = ""
    folders: list[Path] = field(default_factory=list)
    planes: list[FakePlane] = field(default_factory=list)
    refused: int = 0  # requests to control planes that do not run

    def programs(self) -> Programs:
        return Programs(lambda: self.missing, self._start, self._read, self._call)

    def _start(self, name: str, folder: Path, *, admits: Callable[[str], bool], **webhooks: str) -> FakePlane:
        self.folders.append(folder)
        if self.problem:
            raise ControlPlaneError(self.problem)
        if self.defect:
            raise RuntimeError(self.defect)
        self.planes.append(FakePlane(webhooks, admits=admits))
        folder.rmdir()
        return self.planes[-1]

    @staticmethod
    def _read(plane: FakePlane, path: str) -> dict[str, Any]:
        if path not in plane.objects:
            raise ControlPlaneError(f"GET {path}: status 404")
        return dict(plane.objects[path])

    def _call(self, plane: FakePlane, request: Request) -> tuple[int, Any]:
        if not plane.is_running:
            self.refused += 1
            raise ControlPlaneError("the API server does not answer")
        return plane.server.call(request)


def trust(service: str) -> str:
    """A trust policy for a service, and for people of the account, who take on the role in tests."""
    principal = {"Service": service, "AWS": f"arn:aws:iam::{ACCOUNT}:root"}
    statement = {"Effect": "Allow", "Principal": principal, "Action": ["sts:AssumeRole", "sts:TagSession"]}
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


class World:
    """The account, its ids, and clients of its owner."""

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint
        self.ids: dict[str, str] = {}
        self.programs = FakePrograms()

    def client(self, service: str, **keys: Any) -> Any:
        return boto3.client(service, endpoint_url=self.endpoint, region_name=REGION, **(keys or OWNER.client_keys))

    @property
    def eks(self) -> Any:
        return self.client("eks")

    def make(self) -> None:
        """Make the VPC and the roles."""
        ec2, iam = self.client("ec2"), self.client("iam")
        vpc = ec2.create_vpc(CidrBlock="10.1.0.0/16")["Vpc"]["VpcId"]
        for number, zone in enumerate(("a", "b", "c")):
            cidr = {"CidrBlock": f"10.1.{number}.0/28", "AvailabilityZone": f"{REGION}{zone}"}
            self.ids[zone] = ec2.create_subnet(VpcId=vpc, **cidr)["Subnet"]["SubnetId"]
        self.ids["group"] = ec2.create_security_group(VpcId=vpc, GroupName="nodes", Description="nodes")["GroupId"]
        for name, service in (("eks", "eks.amazonaws.com"), ("pods", "pods.eks.amazonaws.com")):
            iam.create_role(RoleName=name, AssumeRolePolicyDocument=trust(service))
        iam.create_role(RoleName="viewer", Path="/people/", AssumeRolePolicyDocument=trust("ec2.amazonaws.com"))

    def request(self, **changes: Any) -> dict[str, Any]:
        """A request of CreateCluster that is accepted."""
        vpc = {"subnetIds": [self.ids["a"], self.ids["b"]], "securityGroupIds": [self.ids["group"]]}
        access = {"authenticationMode": "API", "bootstrapClusterCreatorAdminPermissions": False}
        usual = {"name": "ml", "version": "1.34", "roleArn": ROLE, "resourcesVpcConfig": vpc, "accessConfig": access}
        return {**usual, **changes}

    def create(self, **changes: Any) -> dict[str, Any]:
        """Create a cluster and return it once it is ACTIVE."""
        request = self.request(**changes)
        self.eks.create_cluster(**request)
        return self.until(lambda: self.cluster(request["name"]), "ACTIVE")

    def cluster(self, name: str = "ml") -> dict[str, Any]:
        found: dict[str, Any] = self.eks.describe_cluster(name=name)["cluster"]
        return found

    def addon(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = self.eks.describe_addon(clusterName="ml", addonName=name)["addon"]
        return found

    def until(self, look: Callable[[], dict[str, Any]], status: object) -> dict[str, Any]:
        """Return what ``look`` returns once it has the status."""
        end = time.monotonic() + 10
        while (found := look())["status"] != status:
            assert time.monotonic() < end, f"{found['status']} instead of {status}: {found.get('health')}"
            time.sleep(0.01)
        return found

    def session(self, role: str = VIEWER, name: str = "alice") -> dict[str, str]:
        """Keys of a role's session, as arguments of a client."""
        made = self.client("sts").assume_role(RoleArn=role, RoleSessionName=name)["Credentials"]
        names = {
            "aws_access_key_id": "AccessKeyId",
            "aws_secret_access_key": "SecretAccessKey",
            "aws_session_token": "SessionToken",
        }
        return {argument: made[key] for argument, key in names.items()}
