"""An EKS cluster with a real control plane, and people with real `aws` and `kubectl`."""

import base64
import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from local_aws import durations, server
from local_aws.clock import DEFAULT_SPEED, clock
from local_aws.credentials import OWNER
from local_aws.environment import aws_environment
from local_aws.kubernetes.client import Client
from local_aws.kubernetes.programs import store
from local_aws.server import EmbeddedAws
from local_aws.testing import REGION, aws
from tests.aws_cli import aws_cli
from tests.simulator.eks.world import ACCOUNT, POLICY, World, trust

__all__ = ["aws"]

SPEED = 600.0


@dataclass
class Person:
    """A user of kubectl with a role's keys and a kubeconfig that `aws eks update-kubeconfig` wrote."""

    home: Path
    environment: dict[str, str]
    keys: dict[str, str] = field(default_factory=dict)

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, env=self.environment, cwd=self.home, check=False, capture_output=True, text=True, timeout=120
        )

    def kubectl(self, *words: str) -> subprocess.CompletedProcess[str]:
        return self.run("kubectl", *words)

    def with_token(self, token: str) -> subprocess.CompletedProcess[str]:
        """Run kubectl with this token only, without the kubeconfig's user."""
        server = json.loads(self.kubectl("config", "view", "--raw", "-o", "json").stdout)["clusters"][0]["cluster"]
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "ml", "cluster": server}],
            "users": [{"name": "one", "user": {"token": token}}],
            "contexts": [{"name": "ml", "context": {"cluster": "ml", "user": "one"}}],
            "current-context": "ml",
        }
        (self.home / "token.json").write_text(json.dumps(config))
        return self.kubectl("--kubeconfig", str(self.home / "token.json"), "get", "pods")


class Site(World):
    """The account with the cluster ml, and its people."""

    def __init__(self, endpoint: str, folder: Path, programs: str) -> None:
        super().__init__(endpoint)
        self.folder = folder
        self.path = programs

    def admit(self, name: str, policy: str, *namespaces: str) -> None:
        """Give a role an access policy."""
        principal = self.role(name)
        self.eks.create_access_entry(clusterName="ml", principalArn=principal)
        scope = {"type": "namespace" if namespaces else "cluster", "namespaces": list(namespaces)}
        policy_arn = POLICY.format(policy)
        self.eks.associate_access_policy(clusterName="ml", principalArn=principal, policyArn=policy_arn, accessScope=scope)

    def change_access(self, **access: bool) -> None:
        """Change who reaches the endpoint."""
        self.eks.update_cluster_config(name="ml", resourcesVpcConfig=access)
        self.eks.get_waiter("cluster_active").wait(name="ml", WaiterConfig={"Delay": 1, "MaxAttempts": 120})

    def api(self, token: str) -> Client:
        """A client of the API server with a token, where kubectl would only cost time."""
        cluster = self.cluster()
        authority = self.folder / "ca.pem"
        authority.write_bytes(base64.b64decode(cluster["certificateAuthority"]["data"]))
        return Client(cluster["endpoint"], authority, token=token)

    def role(self, name: str) -> str:
        self.client("iam").create_role(RoleName=name, AssumeRolePolicyDocument=trust("ec2.amazonaws.com"))
        return f"arn:aws:iam::{ACCOUNT}:role/{name}"

    def person(self, name: str) -> Person:
        """A session of the role, with a kubeconfig."""
        home = self.folder / name
        home.mkdir()
        keys = self.session(f"arn:aws:iam::{ACCOUNT}:role/{name}", "alice")
        environment = aws_environment(self.endpoint, REGION, home, OWNER)
        environment |= {argument.upper(): value for argument, value in keys.items()}
        environment |= {"HOME": str(home), "KUBECONFIG": str(home / "config"), "PATH": f"{self.path}:{environment['PATH']}"}
        owner = environment | {argument.upper(): value for argument, value in OWNER.client_keys.items()}
        owner.pop("AWS_SESSION_TOKEN")
        command = ["aws", "eks", "update-kubeconfig", "--name", "ml"]  # DescribeCluster is the administrator's
        subprocess.run(command, env=owner, check=True, capture_output=True, timeout=120)
        return Person(home, environment, keys)


@pytest.fixture(scope="module")
def site(aws: EmbeddedAws, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    server.reset()
    clock.set_speed(SPEED)
    programs = store.find(store.CONTROL_PLANE)
    assert programs is not None
    made = Site(aws.endpoint, tmp_path_factory.mktemp("people"), f"{aws_cli()}{os.pathsep}{programs}")
    made.make()
    durations.change({"eks.create": 1, "eks.access": 1})
    made.eks.create_cluster(**made.request())
    made.eks.get_waiter("cluster_active").wait(name="ml", WaiterConfig={"Delay": 1, "MaxAttempts": 120})
    for name, policy, namespaces in (("admin", "ClusterAdmin", ()), ("reader", "View", ()), ("editor", "Edit", ("team-a",))):
        made.admit(name, policy, *namespaces)
    made.role("stranger")
    yield made
    server.reset()
    clock.set_speed(DEFAULT_SPEED)
