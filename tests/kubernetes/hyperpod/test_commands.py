"""`./hpod` on a HyperPod cluster whose API server is real: states, a drain, a replacement and its events."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from cli.__main__ import main
from local_aws import durations
from local_aws.environment import aws_environment
from local_aws.server import EmbeddedAws
from tests.kubernetes.hyperpod.conftest import RealSite
from tests.simulator.eks.world import POLICY, trust
from tests.simulator.hyperpod.eks_world import ACCOUNT
from tests.simulator.hyperpod.world import REGION, until
from tests.simulator.machinery.account import document

OPERATOR = f"arn:aws:iam::{ACCOUNT}:role/operator"
STACK = {
    "Resources": {"Wait": {"Type": "AWS::CloudFormation::WaitConditionHandle"}},
    "Outputs": {"ClusterName": {"Value": "ml", "Description": "name of the cluster"}},
}
Command = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def running(site: RealSite) -> RealSite:
    """The cluster with two nodes, and an operator with access to Kubernetes."""
    site.world.client("cloudformation").create_stack(StackName="ml-Cluster", TemplateBody=json.dumps(STACK))
    iam = site.world.client("iam")
    iam.create_role(RoleName="operator", AssumeRolePolicyDocument=trust("ec2.amazonaws.com"))
    iam.attach_role_policy(RoleName="operator", PolicyArn="arn:aws:iam::aws:policy/ReadOnlyAccess")
    actions = [f"sagemaker:{each}" for each in ("BatchDeleteClusterNodes", "BatchReplaceClusterNodes", "StartClusterHealthCheck")]
    statement = {"Effect": "Allow", "Action": actions, "Resource": "*"}
    iam.put_role_policy(RoleName="operator", PolicyName="nodes", PolicyDocument=document(statement))
    site.eks.create_access_entry(clusterName="ml", principalArn=OPERATOR)
    scope = {"type": "cluster"}
    policy = POLICY.format("ClusterAdmin")
    site.eks.associate_access_policy(clusterName="ml", principalArn=OPERATOR, policyArn=policy, accessScope=scope)
    site.world.create(
        site.world.group("workers", 2, InstanceType="ml.g5.8xlarge"), **site.settings(), NodeProvisioningMode="Continuous"
    )
    found = until(site.world.cluster, lambda cluster: cluster["ClusterStatus"] in ("InService", "Failed"), 90)
    assert found["ClusterStatus"] == "InService", found.get("FailureMessage")
    until(lambda: ready(site), lambda names: len(names) == 2, 60)
    return site


def ready(site: RealSite) -> list[str]:
    """The names of the nodes that take pods."""
    return [name for name, node in site.kube_nodes().items() if not node["spec"].get("taints")]


@pytest.fixture
def hpod(
    running: RealSite, aws: EmbeddedAws, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Command:
    """Run a command as the operator, and return its data."""
    ids = running.world.ids
    existing = {"vpc_id": ids["vpc"], "node_subnet_ids": [ids["subnet"]], "security_group_id": ids["security_group"]}
    file = {
        "region": REGION,
        "network": {"availability_zone_id": "usw2-az2", "existing": existing},
        "eks": {"existing": {"name": "ml"}},
        "instance_groups": [{"name": "workers", "instance_type": "ml.g5.8xlarge", "instance_count": 2}],
    }
    (tmp_path / "ml.yaml").write_text(yaml.safe_dump(file))
    keys = running.world.client("sts").assume_role(RoleArn=OPERATOR, RoleSessionName="alice")["Credentials"]
    for name, value in aws_environment(aws.endpoint, REGION, tmp_path, running.world.owner).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", keys["AccessKeyId"])
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", keys["SecretAccessKey"])
    monkeypatch.setenv("AWS_SESSION_TOKEN", keys["SessionToken"])

    def run(command: str, *words: str) -> dict[str, Any]:
        status = main([command, "ml", *words, "--clusters", str(tmp_path), "--output", "json"])
        printed = capsys.readouterr()
        assert status == 0, printed.err
        found: dict[str, Any] = json.loads(printed.out)["data"]
        return found

    return run


def test_states_of_nodes_are_hyperpods_and_kubernetes(hpod: Command) -> None:
    found = hpod("status")
    assert {(node["status"], node["kubernetes"]["state"], node["kubernetes"]["health_status"]) for node in found["nodes"]} == {
        ("Running", "Ready", "Schedulable")
    }
    assert found["kubernetes"]["ready"] == 2
    assert [node["host"] for node in hpod("nodes")["nodes"]] == [f"hyperpod-{node['instance_id']}" for node in found["nodes"]]


def test_the_eks_cluster_of_the_file_is_no_difference(hpod: Command) -> None:
    found = hpod("drift")
    assert found["nodes_without_agent"] == 0
    assert [each["field"] for each in found["differences"] if each["field"] == "Orchestrator"] == []


def test_a_drained_node_is_cordoned_and_resumed(running: RealSite, hpod: Command) -> None:
    name = min(running.kube_nodes())
    [drained] = hpod("drain", name, "--reason", "ECC errors")["nodes"]
    assert drained["kubernetes_state"] == "Ready,SchedulingDisabled"
    assert running.kube_nodes()[name]["spec"]["unschedulable"] is True
    [resumed] = hpod("resume", name)["nodes"]
    assert resumed["former_kubernetes_reason"].endswith(": ECC errors")
    assert "unschedulable" not in running.kube_nodes()[name]["spec"]


def test_a_checked_node_passes_and_takes_pods_again(running: RealSite, hpod: Command) -> None:
    checked, other = sorted(running.kube_nodes())
    durations.change({"hyperpod.node.deep_health_check": 6000})
    found = hpod("health-check", checked, "--yes", "--timeout", "10m")
    assert found["done"] is True
    [node] = found["nodes"]
    assert (node["host"], node["result"]) == (checked, "passed")
    labels = {name: node["metadata"]["labels"] for name, node in running.kube_nodes().items()}
    assert labels[checked]["sagemaker.amazonaws.com/deep-health-check-status"] == "Passed"
    assert "sagemaker.amazonaws.com/deep-health-check-status" not in labels[other]
    until(lambda: ready(running), lambda names: sorted(names) == [checked, other], 60)


def test_a_replaced_node_is_a_new_one_that_takes_pods(running: RealSite, hpod: Command) -> None:
    old = min(running.kube_nodes())
    [replaced] = hpod("replace", old, "--yes", "--timeout", "5m")["nodes"]
    assert replaced["result"] == "ok"
    assert f"hyperpod-{replaced['new_instance_id']}" in ready(running)
    assert old not in running.kube_nodes()
    sources = {event["source"] for event in hpod("events")["events"]}
    assert {"kubernetes", "cluster"} <= sources


def test_a_node_is_deleted_with_its_count_in_the_file(running: RealSite, hpod: Command) -> None:
    name = min(running.kube_nodes())
    found = hpod("delete", name, "--scale", "--yes", "--timeout", "5m")
    assert [node["result"] for node in found["nodes"]] == ["deleted"]
    assert [edit["after"] for edit in found["edits"]] == [1]
    until(running.kube_nodes, lambda nodes: name not in nodes, 30)
