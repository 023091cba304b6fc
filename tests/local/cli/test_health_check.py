"""`hpod health-check` against the embedded AWS: a faulty node, with the operation and the log of its check."""

import json
from pathlib import Path

import pytest

from cli.__main__ import main
from local_aws import faults
from local_aws.credentials import OWNER
from local_aws.environment import aws_environment
from local_aws.server import EmbeddedAws
from tests.simulator.hyperpod.conftest import account, world
from tests.simulator.hyperpod.world import REGION, World

__all__ = ["account", "world"]

pytestmark = pytest.mark.local
FILE = """\
region: us-west-2
network:
  availability_zone_id: usw2-az2
instance_groups:
  - {name: head, role: controller, instance_type: ml.c5.xlarge, instance_count: 1}
  - {name: workers, role: compute, partition: dev, instance_type: ml.g5.8xlarge, instance_count: 2}
"""
STACK = {
    "Resources": {"Wait": {"Type": "AWS::CloudFormation::WaitConditionHandle"}},
    "Outputs": {"ClusterName": {"Value": "ml", "Description": "name of the cluster"}},
}


def test_a_faulty_node_is_reported_with_the_errors_of_its_log(
    aws: EmbeddedAws, world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    world.client("cloudformation").create_stack(StackName="ml-Cluster", TemplateBody=json.dumps(STACK))
    world.in_service(world.group("head"), world.group("workers", 2, InstanceType="ml.g5.8xlarge"), NodeRecovery="None")
    (tmp_path / "ml.yaml").write_text(FILE)
    for name, value in aws_environment(aws.endpoint, REGION, tmp_path, OWNER).items():
        monkeypatch.setenv(name, value)
    faults.order(faults.Fault("sagemaker:StartClusterHealthCheck", kind="fail", message="NCCL Test output Bw: 30"))

    status = main(["health-check", str(tmp_path / "ml.yaml"), "workers", "--yes", "--output", "json"])

    data = json.loads(capsys.readouterr().out)["data"]
    assert (status, data["done"]) == (1, True)
    assert sorted(node["result"] for node in data["nodes"]) == ["failed", "passed"]
    assert [line["level"] for line in data["log"]].count("error") == 1
    world.client("cloudformation").delete_stack(StackName="ml-Cluster")
