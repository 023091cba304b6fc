"""The real command line's `drift`, `diagnose` and `orphan`."""

import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from local_aws.credentials import OWNER
from local_aws.environment import aws_environment
from tests.simulator.cloudformation.conftest import REGION, Json, World

pytestmark = [pytest.mark.local, pytest.mark.cdk]
TRUST = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Principal": {"Service": "sagemaker.amazonaws.com"}, "Action": "sts:AssumeRole"}],
}
RESOURCES: Json = {
    "Logs": {"Type": "AWS::Logs::LogGroup", "Properties": {"LogGroupName": "/drifting", "RetentionInDays": 30}},
    "Role": {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": TRUST, "Description": "nodes"}},
    "Note": {"Type": "AWS::SSM::Parameter", "Properties": {"Name": "/drifting", "Type": "String", "Value": {"Ref": "Logs"}}},
    "Data": {"Type": "AWS::S3::Bucket", "Properties": {}},
}


@dataclass
class Assembly:
    """A cloud assembly of one stack, written without an app."""

    folder: Path
    environment: dict[str, str]

    def write(self, resources: Json) -> None:
        paths = {f"/stack/{name}/Resource": [{"type": "aws:cdk:logicalId", "data": name}] for name in resources}
        stack = {
            "type": "aws:cloudformation:stack",
            "environment": f"aws://123456789012/{REGION}",
            "properties": {"templateFile": "stack.template.json"},
            "displayName": "stack",
            "metadata": paths,
        }
        (self.folder / "manifest.json").write_text(json.dumps({"version": "48.0.0", "artifacts": {"stack": stack}}))
        (self.folder / "stack.template.json").write_text(json.dumps({"Resources": resources}))

    def cdk(self, *words: str, status: int = 0) -> str:
        """What the command line prints."""
        command = ["cdk", "--app", str(self.folder), "--no-notices", "--no-color", *words]
        ran = subprocess.run(
            command, cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=120, check=False
        )
        assert ran.returncode == status, ran.stdout + ran.stderr
        return ran.stdout + ran.stderr


@pytest.fixture
def assembly(world: World, tmp_path: Path) -> Iterator[Assembly]:
    """The assembly of a stack that is deployed."""
    found = Assembly(tmp_path, aws_environment(world.endpoint, REGION, tmp_path, OWNER))
    found.write(RESOURCES)
    assert world.deploy(RESOURCES) == "CREATE_COMPLETE"
    yield found
    world.client("logs").delete_log_group(logGroupName="/drifting")


def test_cdk_drift_shows_what_was_changed_and_deleted_by_hand_and_what_it_cannot_check(world: World, assembly: Assembly) -> None:
    assert "No drift detected" in assembly.cdk("drift", "stack", "--fail")
    world.client("logs").put_retention_policy(logGroupName="/drifting", retentionInDays=7)
    world.ssm.delete_parameter(Name="/drifting")
    text = assembly.cdk("drift", "stack", "--fail", "--verbose", status=1)
    assert "[~] AWS::Logs::LogGroup Logs" in text
    assert "/RetentionInDays" in text
    assert "[-] 30" in text
    assert "[+] 7" in text
    assert "[-] AWS::SSM::Parameter Note" in text
    unchecked = text.partition("Unchecked Resources")[2].partition("Modified Resources")[0]
    assert "AWS::S3::Bucket Data" in unchecked
    assert "AWS::IAM::Role" not in unchecked
    assert "2 resources have drifted from their expected configuration" in text


def test_cdk_diagnose_names_the_resource_that_failed(world: World, assembly: Assembly) -> None:
    assert "Logs" not in assembly.cdk("diagnose", "stack", "--unstable=diagnose")
    taken = {**RESOURCES, "Second": {**RESOURCES["Note"]}}
    assert world.deploy(taken) == "UPDATE_ROLLBACK_COMPLETE"
    text = assembly.cdk("diagnose", "stack", "--unstable=diagnose", status=1)
    assert "Second" in text
    assert "already exists" in text


def test_cdk_orphan_removes_a_resource_from_the_stack_and_keeps_it(world: World, assembly: Assembly) -> None:
    text = assembly.cdk("orphan", "stack/Logs", "--unstable=orphan", "--yes")
    assert "Resources orphaned from stack" in text
    assert world.resources() == {"Role", "Note", "Data"}
    assert world.client("logs").describe_log_groups(logGroupNamePrefix="/drifting")["logGroups"]
    assert world.ssm.get_parameter(Name="/drifting")["Parameter"]["Value"] == "/drifting"
