"""The files of examples/team-repository agree with each other."""

import json
import re
from typing import Any

import pytest
import yaml

from config.model import ClusterConfig
from tests import cluster_files
from validation.load import load_clusters

FOLDER = cluster_files.TEAM.parent
README = (FOLDER / "README.md").read_text()
MAKEFILE = (FOLDER / "Makefile").read_text()
CLUSTERS = load_clusters(cluster_files.TEAM)


def workflow(name: str) -> dict[str, Any]:
    """Return the jobs of a workflow."""
    text = (FOLDER / ".github" / "workflows" / f"{name}.yaml").read_text()
    jobs: dict[str, Any] = yaml.safe_load(text)["jobs"]
    return jobs


def test_each_cluster_is_in_an_account_of_its_own() -> None:
    accounts = {config.name: config.account for config in CLUSTERS}
    assert accounts == {"production": "444455556666", "staging": "111122223333"}


@pytest.mark.parametrize("config", CLUSTERS, ids=lambda config: config.name)
def test_the_workflows_use_the_account_and_region_of_the_file(config: ClusterConfig) -> None:
    rows = workflow("pull-request")["diff"]["strategy"]["matrix"]["include"]
    assert {"cluster": config.name, "account": config.account, "region": config.region} in rows
    assert len(rows) == len(CLUSTERS)

    job = workflow("deploy")[config.name]
    assert (job["environment"], job["concurrency"]) == (config.name, f"deploy-{config.name}")
    [role] = [step["with"] for step in job["steps"] if "role-to-assume" in step.get("with", {})]
    assert role["role-to-assume"] == f"arn:aws:iam::{config.account}:role/hyperpod-deploy"
    assert role["aws-region"] == config.region
    assert role["role-duration-seconds"] == job["timeout-minutes"] * 60
    assert job["steps"][-1]["run"].startswith(f"make deploy CLUSTER={config.name} ")


def test_the_roles_of_the_workflows_are_those_of_the_readme() -> None:
    used = set()
    for jobs in (workflow("pull-request"), workflow("deploy")):
        arns = [step.get("with", {}).get("role-to-assume", "") for job in jobs.values() for step in job["steps"]]
        used |= {arn.rpartition("/")[2] for arn in arns if arn}
    assert used == set(re.findall(r"^\| `(hyperpod-\w+)` \|", README, re.MULTILINE))


def test_a_pull_request_that_replaces_a_resource_fails_without_a_label() -> None:
    [step] = [step for step in workflow("pull-request")["diff"]["steps"] if "make diff" in step.get("run", "")]
    assert step["run"] == 'make diff CLUSTER=${{ matrix.cluster }} OPTIONS="--fail-on $FAIL_ON" | tee diff.txt'
    assert step["env"]["FAIL_ON"].endswith("'destructive') && 'never' || 'destructive' }}")


def test_the_trust_policy_allows_one_environment_of_one_repository() -> None:
    trust, _ = (json.loads(block) for block in re.findall(r"```json\n(.*?)```", README, re.DOTALL))
    [statement] = trust["Statement"]
    conditions = statement["Condition"]
    assert conditions.keys() == {"StringEquals"}, "without wildcards"
    prefix = "token.actions.githubusercontent.com:"
    assert conditions["StringEquals"][f"{prefix}aud"] == "sts.amazonaws.com"
    assert conditions["StringEquals"][f"{prefix}sub"].startswith("repo:")
    assert conditions["StringEquals"][f"{prefix}sub"].endswith(":environment:staging")


def test_every_command_of_the_readme_and_the_workflows_is_a_target() -> None:
    targets = set(re.findall(r"^([a-z-]+):.*##", MAKEFILE, re.MULTILINE))
    texts = [README, *(path.read_text() for path in (FOLDER / ".github" / "workflows").iterdir())]
    used = set(re.findall(r"(?:`|    |run: )make ([a-z-]+)", "\n".join(texts)))
    assert used <= targets
    assert used >= {"validate", "snapshot", "check-snapshot", "diff", "deploy", "upgrade"}
