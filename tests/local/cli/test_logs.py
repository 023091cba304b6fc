"""`hpod logs` on CloudWatch Logs as moto serves it."""

import json
import time
from typing import Any

import pytest

from cli.deployment import Deployment
from cli.errors import CommandError
from cli.logs import logs
from config.model import ClusterConfig
from local_aws.testing import Client
from validation.load import parse_cluster

pytestmark = pytest.mark.local

FILE = b"""
network: {availability_zone_id: usw2-az4, vpc_cidr: 10.8.0.0/16, public_subnet_cidr: 10.8.0.0/24}
storage: {lustre: {version: "2.15"}}
instance_groups:
  - {name: head, role: controller, instance_type: ml.c5.xlarge, instance_count: 1}
"""
OLD, NEW, OTHER = (
    f"/aws/sagemaker/Clusters/{each}"
    for each in ("draft-0123456789ab/aaaa", "draft-ba9876543210/bbbb", "draft-big-0123456789ab/cc")
)


class Session:
    """A session whose clients are the test's."""

    region_name = "us-west-2"

    def __init__(self, client: Client) -> None:
        self.client = client


class Logs:
    """The account's logs, to write to and to read by the command."""

    def __init__(self, client: Client) -> None:
        self.api = client("logs")
        config = parse_cluster(FILE, "draft")
        assert isinstance(config, ClusterConfig), config
        session: Any = Session(client)
        self.deployment = Deployment(config, session)

    def write(self, group: str, stream: str, *lines: str) -> None:
        """Append lines; group and stream are made when they are not there."""
        if not self.api.describe_log_groups(logGroupNamePrefix=group)["logGroups"]:
            self.api.create_log_group(logGroupName=group)
        if not self.api.describe_log_streams(logGroupName=group, logStreamNamePrefix=stream)["logStreams"]:
            self.api.create_log_stream(logGroupName=group, logStreamName=stream)
        now = int(time.time() * 1000)
        events = [{"timestamp": now, "message": line} for line in lines]
        self.api.put_log_events(logGroupName=group, logStreamName=stream, logEvents=events)

    def read(self, *node: str, kind: str = "lifecycle") -> list[str]:
        """What the command prints."""
        lines: list[str] = []
        result = logs(self.deployment, node=node[0] if node else None, kind=kind, show=lambda line: lines.append(str(line)))
        return lines or [str(result)]


@pytest.fixture
def written(client: Client) -> Logs:
    """Two clusters of the file, the older one gone, and one of another file whose name begins the same."""
    account = Logs(client)
    account.write(OLD, "LifecycleConfig/head/i-0aaaaaaaa", "of the old cluster")
    account.write(OTHER, "LifecycleConfig/head/i-0cccccccc", "of another file")
    account.write(NEW, "LifecycleConfig/head/i-0bbbbbbbb", "begin", "two\nlines", "end")
    account.write(NEW, "LifecycleConfig/workers/i-0bbbbbbb2", "the worker")
    account.write(NEW, "SagemakerHealthMonitoringAgent/head/i-0bbbbbbbb", "not of the scripts")
    account.write(NEW, "DeepHealthCheckResults/0a1b2c3d", "Encountered FaultyInstance")
    return account


@pytest.mark.parametrize("name", ["i-0bbbbbbbb", "head#1"])
def test_a_nodes_log_is_printed_by_its_id_and_by_its_name(written: Logs, name: str) -> None:
    assert written.read(name) == ["begin", "two", "lines", "end"]


def test_logs_of_the_health_agent_and_of_deep_health_checks_are_read_by_their_kind(written: Logs) -> None:
    assert written.read("i-0bbbbbbbb", kind="health") == ["not of the scripts"]
    assert "0a1b2c3d  0a1b2c3d  -" in "\n".join(written.read(kind="deep-health"))
    assert written.read("0a1b2c3d", kind="deep-health") == ["Encountered FaultyInstance"]
    with pytest.raises(CommandError, match="no health log of node 'workers-1'; available: head#1"):
        written.read("workers-1", kind="health")


@pytest.mark.parametrize("name", ["workers-7", "ip-10-1-0-9", "10.1.0.9"])
def test_a_nodes_log_is_printed_by_the_names_that_its_agent_reports(written: Logs, name: str) -> None:
    report = {"record": "state", "instance": "i-0bbbbbbb2", "node": "workers-7", "host": "ip-10-1-0-9", "address": "10.1.0.9"}
    written.write("/hyperpod-cdk/draft/nodes", "workers/i-0bbbbbbb2", json.dumps(report))
    assert written.read(name) == ["the worker"]


def test_without_a_node_the_logs_of_the_newest_cluster_are_listed(written: Logs) -> None:
    listed = "\n".join(written.read())
    assert "i-0bbbbbbbb  head#1     head" in listed
    assert "i-0bbbbbbb2  workers#1  workers" in listed
    assert listed.endswith(f"in log group {NEW}")
    assert "i-0aaaaaaaa" not in listed
    assert "i-0cccccccc" not in listed


def test_a_log_is_followed_as_it_grows(written: Logs) -> None:
    pauses = iter(range(1, 3))
    lines: list[str] = []

    def sleep(_: float) -> None:
        if (number := next(pauses, None)) is None:
            raise KeyboardInterrupt
        written.write(NEW, "LifecycleConfig/workers/i-0bbbbbbb2", f"more {number}")

    with pytest.raises(KeyboardInterrupt):
        logs(written.deployment, node="workers#1", follow=True, show=lambda line: lines.append(str(line)), sleep=sleep)
    assert lines == ["the worker", "more 1", "more 2"]


def test_a_node_without_a_log_is_answered_with_those_that_have_one(written: Logs) -> None:
    with pytest.raises(CommandError, match="available: head#1, workers#1"):
        written.read("workers-2")


def test_a_cluster_that_has_written_nothing_says_where_to_look(client: Client) -> None:
    with pytest.raises(CommandError, match=r"no logs of cluster 'draft'; `./hpod status draft`"):
        Logs(client).read()
