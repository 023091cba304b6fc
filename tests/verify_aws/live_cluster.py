"""The deployed cluster as AWS shows it: descriptions, logs of the custom resource and of lifecycle scripts."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from cli.deployment import Deployment
from cli.errors import CommandError
from cli.remote.sessions import Target
from cli.stack_operations import LOG_GROUP, failures
from tests.verify_aws.evidence import Evidence
from tests.verify_aws.leftovers import clusters, log_groups_of_nodes
from tests.verify_aws.resource_code import Desired, Event

Json = dict[str, Any]


@dataclass(frozen=True)
class LiveCluster:
    """Reads the cluster and saves the answers as evidence."""

    deployment: Deployment
    evidence: Evidence

    def described(self) -> Json | None:
        """Return DescribeCluster's answer; None without a cluster."""
        found = clusters(self.deployment)
        if not found:
            return None
        described: Json = self.deployment.client("sagemaker").describe_cluster(ClusterName=found[0]["ClusterName"])
        self._know(described)
        return described

    def cluster(self) -> Json:
        """Return DescribeCluster's answer; raise CommandError without a cluster."""
        found = self.described()
        if found is None:
            raise CommandError(f"no cluster of {self.deployment.config.name} exists")
        return found

    def nodes(self, group: str = "") -> list[Json]:
        """Return the nodes in ListClusterNodes, or those of a group."""
        nodes = self.deployment.nodes(self.cluster()["ClusterName"])
        return [node for node in nodes if group in ("", node["InstanceGroupName"])]

    def target(self, node: Json) -> Target:
        """Return the node for Session Manager."""
        return Target(self.cluster()["ClusterArn"].rpartition("/")[2], node["InstanceGroupName"], node["InstanceId"])

    def save_answers(self, checkpoint: str) -> None:
        """Save the answers of all reads at a checkpoint, and the request of the custom resource that led to it."""
        client, described = self.deployment.client("sagemaker"), self.cluster()
        name = {"ClusterName": described["ClusterName"]}
        for operation, request in self._requests():
            self.evidence.call(checkpoint, operation, request, None)
        self.evidence.call(checkpoint, "DescribeCluster", name, described)
        self.evidence.call(checkpoint, "ListClusterNodes", name, client.list_cluster_nodes(**name))
        for label, node in labelled(self.nodes()):
            request = {**name, "NodeId": node["InstanceId"]}
            self.evidence.call(checkpoint, "DescribeClusterNode", request, client.describe_cluster_node(**request), label)
        if described.get("NodeProvisioningMode") == "Continuous":
            self.evidence.call(checkpoint, "ListClusterEvents", name, client.list_cluster_events(**name))

    def steps(self) -> list[Json]:
        """Return the log lines of the custom resource's steps, oldest first."""
        found = [json.loads(message) for message in self._step_messages() if message.startswith("{")]
        return [line for line in found if line.get("message") == "step"]

    def save_logs(self) -> None:
        """Save the log lines of the custom resource and of all lifecycle scripts."""
        steps = self.steps()
        if steps:
            self.evidence.text("logs/custom-resource.jsonl", "".join(f"{json.dumps(line)}\n" for line in steps))
        for group in log_groups_of_nodes(self.deployment):  # also of a cluster that no longer exists
            self.evidence.redactor.literal(group.rpartition("/")[2], "cluster-id")
            for stream, lines in self.streams(group):
                self.evidence.text(f"logs/{stream}.log", "".join(f"{line}\n" for line in lines))

    def streams(self, group: str) -> Iterator[tuple[str, list[str]]]:
        """Yield each log stream of a group, with its lines."""
        logs = self.deployment.client("logs")
        pages = logs.get_paginator("describe_log_streams").paginate(logGroupName=group)
        for stream in (each["logStreamName"] for page in pages for each in page["logStreams"]):
            events = logs.get_paginator("filter_log_events").paginate(logGroupName=group, logStreamNames=[stream])
            yield stream, [event["message"].rstrip("\n") for page in events for event in page["events"]]

    def failures(self) -> list[str]:
        """Return why the last operation of a stack failed."""
        return [text for stack in self.deployment.read_stacks() for text in failures(self.deployment, stack)]

    def _know(self, described: Json) -> None:
        arn, redactor = described["ClusterArn"], self.evidence.redactor
        redactor.literal(arn.split(":")[4], "account")
        redactor.literal(arn.rpartition("/")[2], "cluster-id")
        redactor.literal(described["ClusterName"], "cluster")

    def _requests(self) -> Iterator[tuple[str, Json]]:
        """Yield the last request of the custom resource: CreateCluster's input, or the desired one of an update."""
        states, shape = self.deployment.client("stepfunctions"), self._create_cluster_shape()
        for machine in self._resources("AWS::StepFunctions::StateMachine"):
            executions = states.list_executions(stateMachineArn=machine)["executions"]
            inputs = (json.loads(states.describe_execution(executionArn=each["executionArn"])["input"]) for each in executions)
            events = [Event.parse(each["event"]) for each in inputs]
            for event in [each for each in events if each.resource_type == "Custom::HyperPodCluster"][:1]:
                desired = Desired.of(event, shape)
                tags = [{"Key": key, "Value": value} for key, value in sorted(desired.all_tags.items())]
                name = {"ClusterName": desired.initial_name}
                if event.request_type == "Create":
                    yield "CreateCluster", {**name, **desired.request, "Tags": tags}
                else:  # the checks change only groups
                    yield "UpdateCluster", {**name, "InstanceGroups": desired.request["InstanceGroups"]}

    def _create_cluster_shape(self) -> Any:
        return self.deployment.client("sagemaker").meta.service_model.operation_model("CreateCluster").input_shape

    def _step_messages(self) -> Iterator[str]:
        logs = self.deployment.client("logs")
        for group in self._resources("AWS::Logs::LogGroup", LOG_GROUP):
            for page in logs.get_paginator("filter_log_events").paginate(logGroupName=group):
                yield from (event["message"] for event in page["events"])

    def _resources(self, type_name: str, named: str = "") -> list[str]:
        if not any(stack.name.endswith("-Cluster") for stack in self.deployment.read_stacks()):
            return []
        found = (each for each in self.deployment.resources("Cluster") if each["ResourceType"] == type_name)
        return [
            each["PhysicalResourceId"] for each in found if named in each["LogicalResourceId"] and "PhysicalResourceId" in each
        ]


def labelled(nodes: list[Json]) -> Iterator[tuple[str, Json]]:
    """Yield each node with a name that counts the nodes of its group."""
    counts: dict[str, int] = {}
    for node in nodes:
        group = node["InstanceGroupName"]
        counts[group] = counts.get(group, 0) + 1
        yield f"{group}-{counts[group]}", node
