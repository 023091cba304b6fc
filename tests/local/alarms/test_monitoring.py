"""Each trouble of a cluster raises its alarm and is published: the real template, in an account of its own."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from config.operation_names import node_log_group
from local_aws import events
from local_aws.metrics import values
from local_aws.testing import ACCOUNT, REGION, Client, ask
from tests.local.alarms.monitored import (
    ARN,
    EMAIL,
    HYPERPOD_LOGS,
    NAME,
    STACK,
    TOPIC,
    create_file_system,
    deploy,
    deploy_others,
    template,
)
from tests.simulator.hyperpod.world import until

pytestmark = pytest.mark.local
FAULT = {"msg": "NPD caught event: %v", "details: ": {"reason": "XidHardwareFailure"}}
FINE = {"msg": "NPD caught ", "condition type: ": "KernelDeadlock", "with condition details ": {"status": "False"}}


class Operator:
    """An account with a monitored cluster, and an operator who reads the notifications."""

    def __init__(self, client: Client, folder: Path) -> None:
        self._client = client
        self.file_system = create_file_system(client)
        text = template(folder)
        deploy_others(client, self.file_system, text)
        client("logs").create_log_group(logGroupName=HYPERPOD_LOGS)
        self._queue = client("sqs").create_queue(QueueName="notifications")["QueueUrl"]
        assert deploy(client, STACK, text) == "CREATE_COMPLETE"
        client("sns").subscribe(TopicArn=TOPIC, Protocol="sqs", Endpoint=f"arn:aws:sqs:{REGION}:{ACCOUNT}:notifications")

    def log(self, group: str, record: dict[str, Any]) -> None:
        """Write a record to a log group."""
        logs = self._client("logs")
        if not logs.describe_log_streams(logGroupName=group)["logStreams"]:
            logs.create_log_stream(logGroupName=group, logStreamName="one")
        entry = {"timestamp": int(time.time() * 1000), "message": json.dumps(record)}
        logs.put_log_events(logGroupName=group, logStreamName="one", logEvents=[entry])

    def report(self, **slurm: int) -> None:
        """Write a controller's report; by default, nothing is wrong."""
        healthy = {"slurmctld": 1, "slurmdbd": 1, "nodes": 4, "idle": 4, "allocated": 0, "drained": 0, "down": 0}
        self.log(node_log_group(NAME), {"record": "state", "disks": _disks(50.0), "slurm": {**healthy, **slurm}})

    def message(self, wait_s: int = 10) -> dict[str, Any]:
        """Return the next notification."""
        found = self._client("sqs").receive_message(QueueUrl=self._queue, WaitTimeSeconds=wait_s).get("Messages", [])
        for each in found:
            self._client("sqs").delete_message(QueueUrl=self._queue, ReceiptHandle=each["ReceiptHandle"])
        return json.loads(json.loads(found[0]["Body"])["Message"]) if found else {}

    def alarm(self) -> str:
        """Return the name of the next alarm that is published; its description names a command."""
        message = until(self.message, bool, seconds=60)
        assert message["NewStateValue"] == "ALARM"
        assert "./hpod" in message["AlarmDescription"]
        return str(message["AlarmName"]).removeprefix(f"{NAME}-")

    def report_until_ok(self, alarm: str) -> None:
        """Report until an alarm is OK: soon after a report, it misses the next one."""

        def state() -> str:
            self.report()
            return self.states()[alarm]

        until(state, lambda state: state == "OK")

    def states(self) -> dict[str, str]:
        """Return the states of all alarms."""
        alarms = self._client("cloudwatch").describe_alarms()["MetricAlarms"]
        return {alarm["AlarmName"].removeprefix(f"{NAME}-"): alarm["StateValue"] for alarm in alarms}


def _disks(free_percent: float) -> list[dict[str, Any]]:
    return [{"path": "/", "free_percent": 80.0}, {"path": "/fsx", "free_percent": free_percent}]


@pytest.fixture
def operator(client: Client, tmp_path: Path) -> Operator:
    return Operator(client, tmp_path)


def test_each_trouble_of_a_cluster_raises_its_alarm_and_is_published(operator: Operator) -> None:
    operator.report()
    operator.log(HYPERPOD_LOGS, {**FINE, "HealthMonitoringAgentDetectionEvent": "HealthEvent"})
    until(operator.states, lambda states: set(states.values()) == {"OK"})
    operator.report(drained=1, idle=3)
    assert operator.alarm() == "NodesDrained"
    operator.log(HYPERPOD_LOGS, {**FAULT, "HealthMonitoringAgentDetectionEvent": "HealthEvent"})
    assert operator.alarm() == "NodeFault"
    operator.log(node_log_group(NAME), {"record": "state", "disks": _disks(4.0)})
    assert operator.alarm() == "DiskSpaceLow"
    operator.log(node_log_group(NAME), {"record": "bundle", "result": "refused", "message": "hash mismatch"})
    assert operator.alarm() == "BundleFailed"
    ask("fsx-load", "PUT", json.dumps({operator.file_system: {"free_percent": 4}}).encode())
    assert operator.alarm() == "FileSystemSpaceLow"
    # A burst, clearly above the threshold even in a period in which a busy machine publishes only three values.
    ask("fsx-load", "PUT", json.dumps({operator.file_system: {"read_mbps": 250, "write_mbps": 250}}).encode())
    assert operator.alarm() == "FileSystemThroughputHigh"


def test_a_dead_slurmctld_and_a_silent_controller_notify_and_a_new_cluster_does_not(operator: Operator) -> None:
    values.set_pace_of_reports(60)  # at a minute in a second, a busy machine reports often enough
    until(operator.states, lambda states: states["NodesDrained"] == "OK")
    assert operator.states()["SlurmctldDown"] == "INSUFFICIENT_DATA", "no report since the deployment"
    operator.report_until_ok("SlurmctldDown")

    def dead() -> str:
        operator.report(slurmctld=0)
        return operator.states()["SlurmctldDown"]

    until(dead, lambda state: state == "ALARM")
    assert operator.alarm() == "SlurmctldDown"
    operator.report_until_ok("SlurmctldDown")
    message = until(operator.message, bool, seconds=60)
    assert (message["AlarmName"], message["NewStateValue"]) == (f"{NAME}-SlurmctldDown", "INSUFFICIENT_DATA")


def test_hyperpods_events_are_published(operator: Operator) -> None:
    state = {"ClusterStatus": "Failed", "FailureMessage": 'no "capacity"'}
    health = {"HealthStatus": "Unhealthy", "HealthStatusReason": "GPU lost.", "RepairAction": "Replace"}
    trouble = {"EventLevel": "Error", "Description": "No capacity", "InstanceGroupName": "workers"}
    trouble |= {"ClusterName": "reference-1", "EventId": "e-1"}
    for kind, detail in (
        ("SageMaker HyperPod Cluster State Change", {**state, "ClusterStatus": "Updating"}),
        ("SageMaker HyperPod Cluster State Change", state),
        ("SageMaker HyperPod Cluster Node Health Event", {"InstanceId": "i-1", "HealthSummary": health}),
        ("SageMaker HyperPod Cluster Event", {"EventDetails": {**trouble, "EventLevel": "Info"}}),
        ("SageMaker HyperPod Cluster Event", {"EventDetails": {**trouble, "EventLevel": "Warn"}}),
        ("SageMaker HyperPod Cluster Event", {"EventDetails": trouble}),
    ):
        for arn in (ARN, f"{ARN}2"):
            events.publish(ACCOUNT, REGION, source="aws.sagemaker", detail_type=kind, detail=detail, resources=[arn])
    found = {message["content"]["title"]: message["content"] for _ in range(3) if "content" in (message := _event(operator))}
    assert {title: content["description"] for title, content in found.items()} == {
        "reference: cluster is Failed": 'no "capacity"',
        "reference: node i-1 is Unhealthy": "GPU lost. Repair action: Replace",
        "reference: cluster event, level Error": "No capacity (group: workers, instance: )",
    }
    describe = "Run `aws sagemaker describe-cluster-event --cluster-name reference-1 --event-id e-1`"
    assert found["reference: cluster event, level Error"]["nextSteps"] == [describe]
    assert _event(operator, wait_s=1) == {}, "events of other clusters, and those without trouble"
    warned = values.Metric(ACCOUNT, REGION, "AWS/Events", "TriggeredRules", frozenset({("RuleName", f"{NAME}-WarningEvents")}))
    assert [each for period in values.values_of(warned, 1800, 3) for each in period] == [1], "of this cluster's Warn event"
    assert operator.states()["Warnings"] != "ALARM", "one event is a node that starts"


def _event(operator: Operator, wait_s: int = 10) -> dict[str, Any]:
    while "AlarmName" in (message := operator.message(wait_s)):
        pass
    return message


def test_the_stack_fails_without_hyperpods_log_group_and_only_it_is_deleted(client: Client, tmp_path: Path) -> None:
    text = template(tmp_path)
    deploy_others(client, create_file_system(client), text)
    assert deploy(client, STACK, text) == "ROLLBACK_COMPLETE"
    failures = [
        event["ResourceStatusReason"]
        for event in client("cloudformation").describe_stack_events(StackName=STACK)["StackEvents"]
        if event["ResourceStatus"] == "CREATE_FAILED"
    ]
    assert any("log group does not exist" in failure for failure in failures)
    assert not client("sns").list_topics()["Topics"]


def test_e_mail_addresses_are_subscribed(operator: Operator, client: Client) -> None:
    subscriptions = client("sns").list_subscriptions_by_topic(TopicArn=TOPIC)["Subscriptions"]
    assert ("email", EMAIL) in {(each["Protocol"], each["Endpoint"]) for each in subscriptions}
