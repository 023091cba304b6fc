"""`hpod rerun-scripts` on nodes without an agent: through sessions, with the AWS CLI of the nodes, and our real scripts."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from local_aws.credentials import OWNER
from local_aws.environment import PROJECT, aws_environment
from local_aws.testing import REGION
from tests.nodes.bundle import Bundle, lay
from tests.nodes.cluster.operated import FILE, STACK
from tests.nodes.cluster.running import UP_S, Running
from tests.nodes.faults.conftest import Again
from tests.nodes.follow.following import LOG_GROUP, PARAMETER, sha256_of
from tests.nodes.reach.conftest import Operator
from tests.simulator.hyperpod.world import BUCKET, until

pytestmark = pytest.mark.local

NODES = ("controller-1", "login-1", "workers-1", "workers-2")
PREFIX = "lifecycle/applied"
SCRIPTS = {"LifecycleScripts": {"Value": f"s3://{BUCKET}/{PREFIX}", "Description": "the scripts of the last deployment"}}


@pytest.fixture
def bundle(cluster: Running, ours: Bundle, again: Again) -> Iterator[str]:
    """A deployment with `lifecycle.follow: live` for nodes without an agent; the SHA-256 of its bundle."""
    world = cluster.world
    following = Bundle(ours.parameters, ours.settings | {"follow": {"parameter": PARAMETER, "log_group": LOG_GROUP}})
    lay(world, following, f"{PREFIX}/")
    world.client("logs").create_log_group(logGroupName=LOG_GROUP)
    world.allow("ssm:GetParameter", resource=f"arn:aws:ssm:*:*:parameter{PARAMETER}", name="follow")
    world.allow("ssmmessages:*", name="sessions")
    sha256, reach = sha256_of(following.files()), {"roles": ["controller", "login"], "compute_percent": 100}
    pointer = {"version": 1, "generation": 1, "bucket": BUCKET, "prefix": PREFIX, "sha256": sha256, "reach": reach}
    world.client("ssm").put_parameter(Name=PARAMETER, Value=json.dumps(pointer), Type="String")
    template = {**STACK, "Outputs": {**STACK["Outputs"], **SCRIPTS}}
    world.client("cloudformation").create_stack(StackName="ml-Cluster", TemplateBody=json.dumps(template))
    yield sha256
    world.client("cloudformation").delete_stack(StackName="ml-Cluster")
    for run in [again(node) for node in NODES]:  # without `follow`, which removes the agent
        run.succeeded()


@pytest.fixture
def operator(cluster: Running, tmp_path: Path) -> Operator:
    """A user with the file of the cluster and the Session Manager plugin."""
    (tmp_path / "clusters").mkdir()
    (tmp_path / "clusters" / "ml.yaml").write_text(FILE)
    environment = aws_environment(cluster.world.endpoint, REGION, tmp_path, OWNER)
    return Operator(tmp_path, environment | {"PYTHONPATH": str(PROJECT)}, cluster)


def test_apply_installs_the_agent_on_running_nodes(bundle: str, operator: Operator) -> None:
    def agents() -> dict[str, tuple[str | None, str | None]]:
        shown = json.loads(operator.hpod("status", "ml", "--output", "json"))["data"]
        return {each["instance_id"]: (each["agent"], each["bundle_sha256"]) for each in shown["nodes"]}

    def results() -> dict[str, Any]:
        applied = json.loads(operator.hpod("rerun-scripts", "ml", "--yes", "--output", "json"))["data"]["nodes"]
        return {each["instance_id"]: each["result"] for each in applied}

    nodes = [operator.cluster.machine(name)["id"] for name in NODES]
    assert agents() == dict.fromkeys(nodes, (None, None))
    assert results() == dict.fromkeys(nodes, "applied")
    until(agents, lambda found: found == dict.fromkeys(nodes, ("1", bundle)), UP_S)
    assert results() == dict.fromkeys(nodes, "unchanged")
