"""Remove each action from each policy in turn and check that a scenario fails without it.

`make privilege` runs this; PRIVILEGE_EVERY=8 tests only every eighth action. The embedded AWS enforces policies; a failure
counts only if its log shows that this role was denied this action. UNTESTED lists the other actions and why.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from cluster_request.request import merged
from local_aws import server
from local_aws.clock import clock
from local_aws.server import EmbeddedAws
from local_aws.testing import SPEED, aws, clients_of
from tests.cluster_files import REFERENCE
from tests.privilege.account import NODES, Account
from tests.privilege.deployment import Deployment
from tests.privilege.proofs import prove
from tests.privilege.scenarios import SCENARIOS

__all__ = ["aws"]

CHANGES = {
    "storage": {"lustre": None, "data_repository_associations": []},  # not used by the roles under test
    "wait_hours": 2,
    "tags": {"team": "research"},
}
# AWS does not document when HyperPod's agents on nodes need these two;
# https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AmazonSageMakerClusterInstanceRolePolicy.html allows them.
UNTESTED = {
    ("Step", "iam:CreateServiceLinkedRole"): "only the first cluster of an account needs it; the error without it is unknown",
    (NODES, "cloudwatch:PutMetricData"): "only AWS's agents on nodes publish metrics",
    (NODES, "logs:DescribeLogStreams"): "only AWS's agent on nodes writes logs",
}
MOST_UNTESTED = 3


@pytest.fixture(scope="module")
def account(aws: EmbeddedAws, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Account]:
    """Return the account with the deployed stack."""
    server.reset()
    clock.set_speed(SPEED)
    folder = tmp_path_factory.mktemp("clusters")
    file = merged(yaml.safe_load(REFERENCE.read_text()), CHANGES)
    (folder / "reference.yaml").write_text(yaml.safe_dump(file, sort_keys=False))
    client = clients_of(aws)
    yield Account(client, Deployment(client, folder, Path(tmp_path_factory.mktemp("out"))))
    server.reset()


def test_without_each_action_a_scenario_fails(account: Account, capsys: pytest.CaptureFixture[str]) -> None:
    assert len(UNTESTED) <= MOST_UNTESTED
    prove(account, SCENARIOS, UNTESTED, capsys)
