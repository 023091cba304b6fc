"""What `hpod` says and does while a deployment is under way, and when CloudFormation has given a rollback up."""

import json
from typing import Any

import pytest

from cli.deployment import Deployment
from cli.errors import CommandError
from cli.rollback import continue_rollback
from cli.status.command import status
from tests.unit.cli.fake_eks import eks_config
from tests.unit.cli.fake_stack import FakeStack
from tests.unit.cli.test_retained import FILE, parsed

CLUSTER = "ClusterResource1A2B3C4D"


def deployment(account: Any) -> Deployment:
    return Deployment(parsed(FILE), account)


def creating() -> FakeStack:
    """A stack whose cluster is being made."""
    account = FakeStack("CREATE_IN_PROGRESS")
    account.add("ClusterProviderStepAccessLogGroup1AACCB72", "AWS::Logs::LogGroup", "CREATE_COMPLETE", "steps")
    account.add(CLUSTER, "Custom::HyperPodCluster", "CREATE_IN_PROGRESS")
    return account


def stuck() -> FakeStack:
    """A stack whose rollback failed in the cluster."""
    account = FakeStack("UPDATE_ROLLBACK_FAILED")
    account.outputs = [{"OutputKey": "ClusterName", "OutputValue": "draft-1", "Description": "the name"}]
    account.add(CLUSTER, "Custom::HyperPodCluster", "UPDATE_FAILED", "draft-1")
    account.add("NodeRole", "AWS::IAM::Role", "UPDATE_COMPLETE")
    return account


def test_status_shows_the_last_line_of_a_cluster_that_is_being_made() -> None:
    account = creating()
    account.step(f"Create {CLUSTER}", 0, status="absent or not read", note="CreateCluster")
    account.step(f"Create {CLUSTER}", 750, status="Creating", nodes="head 0 of 1 (1 Pending)", note="head 0 of 1 (1 Pending)")
    shown = str(status(deployment(account)))
    assert "draft-Cluster  CREATE_IN_PROGRESS" in shown
    assert shown.splitlines()[-1] == f"Create {CLUSTER}: Creating, nodes: head 0 of 1 (1 Pending), 12 min 30 s"


def test_what_a_step_waits_for_is_shown_beside_the_nodes() -> None:
    account = creating()
    account.step(f"Update {CLUSTER}", 61, status="InService", nodes="head 1 of 1", note="UpdateCluster: ConflictException: busy")
    assert str(status(deployment(account))).endswith(
        "InService, nodes: head 1 of 1, 1 min 1 s; UpdateCluster: ConflictException: busy"
    )


def test_the_objects_of_an_eks_cluster_are_counted_while_they_are_applied() -> None:
    account: Any = FakeStack("CREATE_IN_PROGRESS", "draft-Kubernetes")
    account.add("DependenciesProviderStepAccessLogGroup1AACCB72", "AWS::Logs::LogGroup", "CREATE_COMPLETE", "steps")
    account.add("Dependencies", "Custom::HyperPodDependencies", "CREATE_IN_PROGRESS")
    line = {
        "message": "step",
        "request": "Create Dependencies",
        "elapsed_s": 63,
        "applied": 12,
        "note": "EKS cluster is CREATING",
    }
    account.lines.append(json.dumps(line))
    shown = str(status(Deployment(eks_config(), account)))
    assert shown.endswith("Create Dependencies: 12 objects applied, 1 min 3 s; EKS cluster is CREATING")


def test_a_cluster_that_is_not_there_and_not_on_its_way_is_an_error() -> None:
    with pytest.raises(CommandError, match="is not deployed"):
        status(deployment(FakeStack("ROLLBACK_COMPLETE")))


def test_a_stack_that_was_rolled_back_says_why_and_not_what_an_earlier_operation_said() -> None:
    account = FakeStack("ROLLBACK_COMPLETE")
    account.events = [
        ("draft-Cluster", "CREATE_IN_PROGRESS", "User Initiated"),
        ("Old", "CREATE_FAILED", "of an earlier stack of this name"),
        ("draft-Cluster", "CREATE_IN_PROGRESS", "User Initiated"),
        ("NodeRole", "CREATE_COMPLETE", ""),
        (CLUSTER, "CREATE_FAILED", "cluster draft-1 is Failed: no capacity"),
        ("Other", "CREATE_FAILED", "Resource creation cancelled"),
        ("draft-Cluster", "ROLLBACK_IN_PROGRESS", "The following resource(s) failed to create"),
        (CLUSTER, "DELETE_COMPLETE", ""),
        ("draft-Cluster", "ROLLBACK_COMPLETE", ""),
    ]
    shown = str(status(deployment(account)))
    assert "draft-Cluster  ROLLBACK_COMPLETE" in shown
    told = f"why draft-Cluster failed:\n{CLUSTER} CREATE_FAILED: cluster draft-1 is Failed: no capacity"
    assert shown.endswith(told)


def test_the_way_out_of_a_failed_rollback_is_shown_with_the_resources_that_failed() -> None:
    shown = str(status(deployment(stuck())))
    command = "aws cloudformation continue-update-rollback --stack-name draft-Cluster --region us-west-2"
    assert f"  {command}\n" in shown
    assert f"  {command} --resources-to-skip {CLUSTER}\n" in shown
    assert "cluster draft-1 is InService" in shown


def test_a_rollback_continues_with_all_resources() -> None:
    account = stuck()
    assert "continuing the rollback of draft-Cluster\n" in str(continue_rollback(deployment(account)))
    assert account.continued == [{"StackName": "draft-Cluster"}]


def test_a_rollback_can_leave_out_what_failed() -> None:
    account = stuck()
    assert f"without {CLUSTER}" in str(continue_rollback(deployment(account), skip=True))
    assert account.continued == [{"StackName": "draft-Cluster", "ResourcesToSkip": [CLUSTER]}]


def test_a_rollback_does_not_go_on_to_wait_for_a_busy_cluster_again() -> None:
    account = stuck()
    account.cluster_status = "Updating"
    with pytest.raises(CommandError, match="draft-1 is Updating: continue once it is InService"):
        continue_rollback(deployment(account))
    assert account.continued == []
    continue_rollback(deployment(account), skip=True)


def test_a_stack_that_is_not_stuck_has_no_rollback_to_continue() -> None:
    account = stuck()
    account.status = "UPDATE_COMPLETE"
    with pytest.raises(CommandError, match="no stack of cluster 'draft' is in UPDATE_ROLLBACK_FAILED"):
        continue_rollback(deployment(account))
