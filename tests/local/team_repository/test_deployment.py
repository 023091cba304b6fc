"""A team deploys from examples/team-repository, in an empty folder, with its own commands and the real `cdk` command line."""

import re
from pathlib import Path

import pytest
from botocore.exceptions import ClientError

from local_aws.credentials import OWNER
from local_aws.environment import aws_environment
from local_aws.server import EmbeddedAws
from local_aws.testing import ACCOUNT, REGION, Client
from tests.local.team_repository.team import Team, session_of

pytestmark = [pytest.mark.cdk, pytest.mark.local]

STAGING = "CLUSTER=staging"


@pytest.fixture
def team(origin: Path, fresh_aws: EmbeddedAws, tmp_path: Path) -> Team:
    """Return the example in an empty folder, pointed at the emptied embedded AWS."""
    return Team(tmp_path / "team", origin, aws_environment(fresh_aws.endpoint, REGION, tmp_path, OWNER))


def test_a_cluster_is_deployed_changed_and_destroyed_with_the_roles_of_the_readme(team: Team, client: Client) -> None:
    team.replace("clusters/staging.yaml", "111122223333", ACCOUNT)
    team.make("bootstrap", STAGING)
    diff, deploy = (session_of(name, client) for name in ("hyperpod-diff", "hyperpod-deploy"))
    role = f"arn:aws:iam::{ACCOUNT}:role/cdk-hnb659fds-deploy-role-{ACCOUNT}-{REGION}"
    with pytest.raises(ClientError, match="is not authorized to perform: sts:AssumeRole"):
        client("sts", **diff.client_keys).assume_role(RoleArn=role, RoleSessionName="diff")

    team.make("deploy", STAGING, "OPTIONS=--require-approval never", session=deploy)
    assert re.search(r"workers +compute +ml\.c5\.xlarge +1 of 1 +InService", team.run("./hpod", "status", "staging"))

    team.replace("clusters/staging.yaml", "ml.c5.xlarge\n    instance_count: 1", "ml.c5.xlarge\n    instance_count: 2")
    shown = team.make("diff", STAGING, "OPTIONS=--fail-on destructive", session=diff)
    assert '[+]   "InstanceCount": 2,' in shown
    assert "Number of stacks with differences: 1" in shown

    team.make("destroy", STAGING, "OPTIONS=--force", session=deploy)
    assert client("sagemaker").list_clusters()["ClusterSummaries"] == []
