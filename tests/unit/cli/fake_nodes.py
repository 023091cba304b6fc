"""A deployed cluster of a controller, a login node and workers, and a shell on its nodes."""

import json
import time
from collections.abc import Iterator, Sequence
from typing import Any

from botocore.exceptions import ClientError

from cli.deployment import Deployment
from cli.remote.sessions import Target
from cli.remote.shell import Output
from tests.unit.cli.fake_stack import FakeStack, Json
from tests.unit.cli.test_retained import parsed

CLUSTER_ID = "abcdefghijkl"
FILE = """\
region: us-west-2
network:
  availability_zone_id: usw2-az2
instance_groups:
  - {name: head, role: controller, instance_type: ml.t3.medium, instance_count: 1}
  - {name: entry, role: login, instance_type: ml.t3.medium, instance_count: 1}
  - {name: workers, role: compute, partition: dev, instance_type: ml.t3.medium, instance_count: 2}
"""
NODES = (
    ("head", 1, "i-0000000000000000a", "10.1.0.4"),
    ("entry", 1, "i-0000000000000000b", "10.1.0.5"),
    ("workers", 1, "i-0000000000000000c", "10.1.0.9"),
    ("workers", 2, "i-0000000000000000d", "10.1.0.10"),
)


class FakeNodes(FakeStack):
    """An account with the cluster `draft-1`."""

    def __init__(self) -> None:
        super().__init__("CREATE_COMPLETE")
        self.outputs = [{"OutputKey": "ClusterName", "OutputValue": "draft-1", "Description": "name"}]
        self.summaries = [summary(group, node, address) for group, _, node, address in NODES]
        self.described: list[str] = []
        self.reported: dict[str, str] = {}
        """The names that the nodes' agents report, by instance id."""

    def describe_cluster(self, **_: str) -> Json:
        arn = f"arn:aws:sagemaker:us-west-2:123456789012:cluster/{CLUSTER_ID}"
        return {"ClusterName": "draft-1", "ClusterStatus": "InService", "ClusterArn": arn, "InstanceGroups": []}

    def describe_cluster_node(self, **request: str) -> Json:
        self.described.append(request["NodeId"])
        for _, _, node, address in NODES:
            if node == request["NodeId"]:
                return {"NodeDetails": {"PrivatePrimaryIp": address}}
        raise ClientError({"Error": {"Code": "ResourceNotFound", "Message": "no such node"}}, "DescribeClusterNode")

    def paginate(self, **request: Any) -> Iterator[Json]:
        if "logGroupName" in request:
            yield {"events": [self._report(*each) for each in self.reported.items()]}
            return
        half = len(self.summaries) // 2
        yield {"ClusterNodeSummaries": self.summaries[:half]}
        yield {"ClusterNodeSummaries": self.summaries[half:]}

    def _report(self, instance: str, name: str) -> Json:
        message = json.dumps({"record": "state", "instance": instance, "node": name})
        now = time.time() * 1000
        return {"logStreamName": f"group/{instance}", "timestamp": now, "ingestionTime": now, "message": message}

    def deployment(self) -> Deployment:
        """The deployment of the cluster's file."""
        session: Any = self
        return Deployment(parsed(FILE), session)


def summary(group: str, node: str, address: str) -> Json:
    """An entry of ListClusterNodes."""
    return {
        "InstanceGroupName": group,
        "InstanceId": node,
        "InstanceType": "ml.t3.medium",
        "InstanceStatus": {"Status": "Running"},
        "PrivateDnsHostname": f"ip-{address.replace('.', '-')}.us-west-2.compute.internal",
        "CurrentImageReleaseVersion": "1.2.3",
        "ImageVersionStatus": "UpToDate",
    }


def resource_config() -> str:
    """The controller's file, with a group that has no nodes."""
    groups: dict[str, Any] = {"spare": None}
    for group, number, node, address in NODES:
        named = {"InstanceName": f"{group}-{number}", "InstanceId": node, "CustomerIpAddress": address}
        groups.setdefault(group, []).append(named)
    return json.dumps({"InstanceGroups": [{"Name": name, "Instances": nodes} for name, nodes in groups.items()]})


class FakeShell:
    """Answers each command with the next output, and keeps the commands."""

    def __init__(self, *outputs: Output | Exception) -> None:
        self.outputs = list(outputs)
        self.calls: list[tuple[str, str]] = []

    def run(self, target: Target, script: str, timeout_s: float = 0) -> Output:
        self.calls.append((target.instance, script))
        output = self.outputs.pop(0)
        if isinstance(output, Exception):
            raise output
        return output

    @property
    def nodes(self) -> Sequence[str]:
        """The nodes that were called."""
        return [node for node, _ in self.calls]
