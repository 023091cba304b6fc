"""A team checks its files and upgrades this project, without an AWS account."""

from pathlib import Path

import pytest

from local_aws.environment import shielded_environment
from local_aws.testing import REGION
from tests.local.team_repository.team import Team


@pytest.fixture
def team(origin: Path, tmp_path: Path) -> Team:
    """Return the example in an empty folder, without an AWS account."""
    return Team(tmp_path / "team", origin, shielded_environment(REGION, tmp_path))


def test_the_example_is_valid_and_its_snapshots_are_current_until_an_upgrade_rewrites_them(team: Team) -> None:
    assert "0 errors and 0 warnings in 2 files" in team.make("validate")
    # If this fails: `make snapshots`.
    assert "snapshots of clusters are up to date" in team.make("check-snapshot")

    printed = team.make("upgrade", "VERSION=v0.2.0")
    assert "hyperpod-cdk.version: v0.1.0 -> v0.2.0" in printed
    changed = {line for line in printed.splitlines() if line.startswith("clusters/")}
    assert changed == {f"clusters/{name}.snapshot/Cluster.template.yaml" for name in ("production", "staging")}
    assert "HyperPod cluster staging, v0.2.0" in (team.folder / "clusters/staging.snapshot/Cluster.template.yaml").read_text()

    assert "v9.9.9" in team.make("upgrade", "VERSION=v9.9.9", fails=True)
    assert (team.folder / "hyperpod-cdk.version").read_text() == "v0.2.0\n"


def test_a_wrong_cluster_or_a_missing_version_is_an_error_with_its_fix(team: Team) -> None:
    error = 'CLUSTER: "stagin" is not in clusters/; set one of: production staging'
    assert error in team.make("deploy", "CLUSTER=stagin", fails=True)
    assert "VERSION: missing; set it to a tag of hyperpod-cdk" in team.make("upgrade", fails=True)
