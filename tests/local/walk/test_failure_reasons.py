"""What an operator sees when nodes fail, and when a rollback takes longer than an hour, and the way out of it."""

import json
import re
import time
from typing import Any

import pytest

from local_aws.clock import clock
from local_aws.testing import Client, ask
from tests.local.walk.workspace import Workspace

pytestmark = [pytest.mark.cdk, pytest.mark.local, pytest.mark.long]

FILE = "clusters/reference.yaml"
FINE = "    instance_type: ml.c5.xlarge\n"
BROKEN = FINE + "    overrides: {LifeCycleConfig: {SourceS3Uri: s3://sagemaker-theirs/lifecycle}}\n"
WHY = "is not authorized to perform s3:ListBucket on arn:aws:s3:::sagemaker-theirs"
SPEED = 600
PATIENCE_S = 60


def stack(client: Client) -> dict[str, Any]:
    """The cluster's stack."""
    found: dict[str, Any] = client("cloudformation").describe_stacks(StackName="reference-Cluster")["Stacks"][0]
    return found


@pytest.mark.fault(46)
def test_the_reason_of_nodes_that_failed_and_the_way_out_of_a_rollback_that_takes_too_long(
    workspace: Workspace, client: Client
) -> None:
    clock.set_speed(SPEED)
    a_failed_creation_carries_the_log_of_the_node(workspace, client)
    a_rollback_that_passes_its_hour_can_be_continued(workspace, client)


def a_failed_creation_carries_the_log_of_the_node(workspace: Workspace, client: Client) -> None:
    workspace.replace(FILE, FINE, BROKEN)
    workspace.deploy(fails=True)
    reason = reason_of(client, "CREATE_FAILED")
    node = re.search(r"node (i-\w+) of controller-machine", reason)
    assert node, reason
    assert f"--log-stream-names LifecycleConfig/controller-machine/{node[1]} --since 1d --region us-west-2" in reason
    assert f"./hpod logs reference {node[1]}" in reason
    assert "Lifecycle scripts did not run successfully" in reason
    assert "fix the script" in reason
    assert reason.count(WHY) == 1, "the node's own last line is written once"
    assert stack(client)["StackStatus"] == "ROLLBACK_COMPLETE"

    listed = workspace.run("python", "-m", "cli", "logs", "reference")
    assert f"{node[1]}  controller-machine#1" in listed
    log = workspace.run("python", "-m", "cli", "logs", "reference", node[1])
    assert "script: lifecycle/" in log
    assert WHY in log.splitlines()[-1]
    workspace.replace(FILE, BROKEN, FINE)


def a_rollback_that_passes_its_hour_can_be_continued(workspace: Workspace, client: Client) -> None:
    workspace.deploy()
    ask("durations", "POST", b'{"hyperpod.node.boot": 9000}')
    ask_for_six_workers(client)
    until(lambda: stack(client)["StackStatus"], "UPDATE_ROLLBACK_FAILED")
    reason = reason_of(client, "UPDATE_FAILED")
    assert "is still Updating after 57 minutes" in reason
    command = "aws cloudformation continue-update-rollback --stack-name reference-Cluster --region us-west-2"
    assert f"`{command}`" in reason

    assert f"  {command}\n" in workspace.run("python", "-m", "cli", "status", "reference")
    settled(client, "InService")
    workspace.run("python", "-m", "cli", "continue-rollback", "reference")
    until(lambda: stack(client)["StackStatus"], "UPDATE_ROLLBACK_COMPLETE")
    [group] = [each for each in settled(client, "InService")["InstanceGroups"] if each["InstanceGroupName"] == "compute-nodes"]
    assert group["CurrentCount"] == 4, "the cluster is what the file said before"


def reason_of(client: Client, status: str) -> str:
    """Why the cluster has this status, by its stack's newest event."""
    events = client("cloudformation").describe_stack_events(StackName="reference-Cluster")["StackEvents"]
    return next(
        str(event["ResourceStatusReason"])
        for event in events
        if (event["ResourceType"], event["ResourceStatus"]) == ("Custom::HyperPodCluster", status)
    )


def ask_for_six_workers(client: Client) -> None:
    """Update the stack as a changed file does; that this is what `cdk deploy` makes of the change, another walk shows."""
    cloudformation = client("cloudformation")
    template = cloudformation.get_template(StackName="reference-Cluster")["TemplateBody"]
    text = template if isinstance(template, str) else json.dumps(template)
    changed, count = re.subn(r'("InstanceCount": ?)4\b', r"\g<1>6", text)
    assert count == 1
    cloudformation.update_stack(StackName="reference-Cluster", TemplateBody=changed, Capabilities=["CAPABILITY_IAM"])


def settled(client: Client, status: str) -> dict[str, Any]:
    """The one cluster that there is, once it has this status."""
    sagemaker = client("sagemaker")
    [summary] = sagemaker.list_clusters()["ClusterSummaries"]

    def describe() -> dict[str, Any]:
        found: dict[str, Any] = sagemaker.describe_cluster(ClusterName=summary["ClusterName"])
        return found

    until(lambda: describe()["ClusterStatus"], status)
    return describe()


def until(look: Any, wanted: str) -> None:
    """Look again until it is as wanted."""
    end = time.monotonic() + PATIENCE_S
    while (seen := look()) != wanted:
        assert time.monotonic() < end, f"still {seen} after {PATIENCE_S} s"
        time.sleep(0.2)
