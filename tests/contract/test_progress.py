"""The progress: written by the step function into its log group, read by hpod."""

from typing import Any

import pytest

from cli.deployment import Deployment
from cli.stack_operations import LOG_GROUP
from cli.status.command import status
from tests import cluster_files
from tests.synth.synthesized import CLUSTER, Synthesized
from tests.unit.cli.fake_stack import FakeStack
from tests.unit.cluster_resource.world import LOGICAL_ID, World, properties
from validation.load import load_cluster


def test_the_step_functions_log_group_is_the_one_that_ops_reads(shipped: Synthesized) -> None:
    stack = shipped["reference", CLUSTER]
    [group] = [name for name in stack.of_type("AWS::Logs::LogGroup") if LOG_GROUP in name]
    assert stack.properties("AWS::Lambda::Function", named="ProviderStep")["LoggingConfig"]["LogGroup"] == {"Ref": group}


def test_ops_shows_the_line_that_a_step_writes(capsys: pytest.CaptureFixture[str]) -> None:
    world = World()
    world.deliver(world.event("Create", properties()))
    world.run(301)
    account = FakeStack("CREATE_IN_PROGRESS", "reference-Cluster")
    account.add(f"Cluster{LOG_GROUP}1AACCB72", "AWS::Logs::LogGroup", "CREATE_COMPLETE", "steps")
    account.add(LOGICAL_ID, "Custom::HyperPodCluster", "CREATE_IN_PROGRESS")
    account.lines = ["INIT_START Runtime Version: python", *capsys.readouterr().out.splitlines(), "END RequestId: 1"]
    session: Any = account
    deployment = Deployment(load_cluster(cluster_files.REFERENCE), session)
    assert str(status(deployment)).endswith(
        f"Create {LOGICAL_ID}: Creating, nodes: controller 0 of 1 (1 Pending), workers 0 of 4 (4 Pending), 5 min 0 s"
    )
