"""`hpod nodes` prints a command that starts a shell on a node from any terminal."""

import shlex
from collections.abc import Iterator
from typing import Any

import pytest

from cli.deployment import Deployment
from cli.nodes import nodes
from tests.unit.cli.fake_stack import FakeStack, Json
from tests.unit.cli.test_retained import FILE, parsed

GROUP, NODE = "a-group-with-a-name-of-32-letters", "i-0123456789abcdef0"
WIDTH = 80


class FakeCluster(FakeStack):
    """A cluster with one node."""

    def describe_cluster(self, **_: str) -> Json:
        arn = "arn:aws:sagemaker:us-west-2:123456789012:cluster/abcdefghijkl"
        return {"ClusterName": "draft-1", "ClusterStatus": "InService", "ClusterArn": arn}

    def paginate(self, **_: Any) -> Iterator[Json]:
        yield {"ClusterNodeSummaries": [{"InstanceId": NODE, "InstanceGroupName": GROUP}]}


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch) -> Any:
    """What the command prints with these variables."""

    def run(**variables: str) -> str:
        for name in ("AWS_PROFILE", "AWS_ACCESS_KEY_ID"):
            monkeypatch.delenv(name, raising=False)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        session: Any = FakeCluster("CREATE_COMPLETE")
        session.outputs = [{"OutputKey": "ClusterName", "OutputValue": "draft-1", "Description": "name"}]
        return str(nodes(Deployment(parsed(FILE), session)))

    return run


def command(text: str) -> list[str]:
    """The words of the command, as a shell reads its two lines."""
    command = text[text.index("aws ssm start-session") :].replace("\\\n", "")
    return shlex.split(command.splitlines()[0])


def test_the_command_names_the_region_and_fits_a_terminal(printed: Any) -> None:
    text = printed()
    assert command(text) == [
        *("aws", "ssm", "start-session", "--region", "us-west-2", "--target", "sagemaker-cluster:abcdefghijkl_GROUP-NODE")
    ]
    assert max(map(len, text.splitlines())) <= WIDTH
    assert [line.split() for line in text.splitlines()[:2]] == [["NODE", "GROUP"], [NODE, GROUP]]


def test_the_command_names_the_profile_of_the_environment(printed: Any) -> None:
    assert command(printed(AWS_PROFILE="our prod"))[3:7] == ["--region", "us-west-2", "--profile", "our prod"]


def test_keys_in_the_environment_come_before_the_profile(printed: Any) -> None:
    assert "--profile" not in printed(AWS_PROFILE="prod", AWS_ACCESS_KEY_ID="key")
