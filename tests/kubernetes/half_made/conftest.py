"""The fixtures of tests/kubernetes/walk, and an EKS file whose `cdk destroy` is to leave nothing."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import yaml

from local_aws import faults, server
from local_aws.clock import clock
from local_aws.eks import model
from local_aws.server import EmbeddedAws
from local_aws.testing import REGION, Client, aws, clients_of
from tests.kubernetes.walk.conftest import SPEED, fast
from tests.kubernetes.walk.people import People
from tests.kubernetes.walk.test_walk import file
from tests.local.walk.conftest import bootstrapped
from tests.local.walk.leftovers import leftovers
from tests.local.walk.workspace import Workspace

__all__ = ["aws", "fast"]

ROLES = {"Admin", "Researcher", "AWSServiceRoleForSageMakerHyperPod"}
"""Two roles of the test, and the service's, which belongs to the account."""


@dataclass(frozen=True)
class Site:
    """A checkout with the file `eks`, and its account."""

    workspace: Workspace
    client: Client

    def deploy(self, *options: str, fails: bool = True) -> str:
        """Deploy all stacks without a new synthesis."""
        options = ("--app", "cdk.out", "--require-approval", "never", "--progress", "events", *options)
        return self.workspace.cdk("deploy", "eks/*", *options, fails=fails)

    def destroy(self, *, fails: bool = False) -> str:
        """Destroy all stacks."""
        return self.workspace.cdk("destroy", "eks/*", "--force", "--app", "cdk.out", fails=fails)

    def status(self, stack: str) -> str:
        """Return the status of one of the stacks."""
        [found] = self.client("cloudformation").describe_stacks(StackName=f"eks-{stack}")["Stacks"]
        return str(found["StackStatus"])

    def reasons(self, stack: str) -> str:
        """Return the reasons in the events of one of the stacks."""
        events = self.client("cloudformation").describe_stack_events(StackName=f"eks-{stack}")["StackEvents"]
        return "\n".join(event.get("ResourceStatusReason", "") for event in events)

    def eks(self) -> model.Cluster:
        """Return the EKS cluster as the embedded AWS has it."""
        with model.lock:
            [found] = model.everything()
        return found

    def api(self, method: str, path: str, body: object = None, content_type: str = "application/merge-patch+json") -> Any:
        """Call the API server as its administrator."""
        plane: Any = self.eks().plane
        answer = plane.admin_client().call(method, path, body, content_type)
        assert answer.status < 300, answer
        return answer.content

    def assert_nothing_is_left(self) -> None:
        """Assert that all is gone; HyperPod's log group and logs of the control plane outlive both clusters by design."""
        assert self.client("eks").list_clusters()["clusters"] == []
        assert self.client("sagemaker").list_compute_quotas()["ComputeQuotaSummaries"] == []
        left = leftovers(self.client)
        assert set(left.pop("role")) <= ROLES
        assert left.keys() <= {"log group"}, left
        assert all(name.startswith(("/aws/sagemaker/", "/aws/eks/")) for name in left.get("log group", [])), left


@pytest.fixture(scope="module")
def account(aws: EmbeddedAws, tmp_path_factory: pytest.TempPathFactory) -> Site:
    """An account with the file, synthesized; each test leaves it as it was."""
    server.reset()
    clock.set_speed(SPEED)
    folder, client = tmp_path_factory.mktemp("half-made"), clients_of(aws)
    workspace = bootstrapped(aws, folder, REGION)
    people = People(client, "eks", folder)
    content = file(people.add("Admin"), people.add("Researcher"))
    content["storage"]["lustre"]["removal"] = "destroy"
    (workspace.folder / "clusters/eks.yaml").write_text(yaml.safe_dump(content))
    workspace.cdk("synth", "--quiet", "eks/*")
    return Site(workspace, client)


@pytest.fixture
def site(account: Site) -> Iterator[Site]:
    """The account for one test."""
    clock.set_speed(SPEED)
    yield account
    faults.reset()
