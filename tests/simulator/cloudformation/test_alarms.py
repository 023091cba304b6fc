"""Alarms on what a log group's metric filter counts, and on events that a function dropped."""

import json
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from local_aws.clock import clock
from tests.simulator.cloudformation.conftest import REGION, SPEED, World
from tests.simulator.machinery.account import until

pytestmark = pytest.mark.local

PATTERN = '{ $.alarm = "refused" }'


def resources(pattern: str = PATTERN, actions: tuple[str, ...] = (), **alarm: Any) -> dict[str, Any]:
    counted = {
        "MetricNamespace": "ours",
        "MetricName": "Trouble",
        "MetricValue": "1",
        "Dimensions": [{"Key": "Kind", "Value": "$.alarm"}],
    }
    watched = {
        "Namespace": "ours",
        "MetricName": "Trouble",
        "Dimensions": [{"Name": "Kind", "Value": "refused"}],
        "Statistic": "Sum",
        "Period": 300,
        "EvaluationPeriods": 1,
        "Threshold": 1,
        "ComparisonOperator": "GreaterThanOrEqualToThreshold",
        "TreatMissingData": "notBreaching",
        "AlarmActions": list(actions),
        **alarm,
    }
    return {
        "Group": {"Type": "AWS::Logs::LogGroup"},
        "Filter": {
            "Type": "AWS::Logs::MetricFilter",
            "Properties": {"LogGroupName": {"Ref": "Group"}, "FilterPattern": pattern, "MetricTransformations": [counted]},
        },
        "Alarm": {"Type": "AWS::CloudWatch::Alarm", "Properties": watched},
    }


def write(world: World, *lines: dict[str, str]) -> None:
    group = world.physical_id("Group")
    logs = world.client("logs")
    if not logs.describe_log_streams(logGroupName=group)["logStreams"]:
        logs.create_log_stream(logGroupName=group, logStreamName="one")
    events = [{"timestamp": int(time.time() * 1000), "message": json.dumps(line)} for line in lines]
    logs.put_log_events(logGroupName=group, logStreamName="one", logEvents=events)


def state(world: World) -> str:
    [alarm] = world.client("cloudwatch").describe_alarms(AlarmNames=[world.physical_id("Alarm")])["MetricAlarms"]
    return str(alarm["StateValue"])


def test_a_line_that_the_filter_matches_raises_the_alarm_until_its_period_is_over(world: World) -> None:
    assert world.deploy(resources()) == "CREATE_COMPLETE"
    until(lambda: state(world) == "OK")
    clock.set_speed(60)  # so that the period is not over before its alarm is looked at
    write(world, {"alarm": "other"}, {"message": "refused"})
    assert state(world) == "OK"
    write(world, {"alarm": "refused"})
    assert state(world) == "ALARM"
    clock.set_speed(SPEED)
    until(lambda: state(world) == "OK")


def test_an_alarm_notifies_its_topic(world: World) -> None:
    sns, sqs = world.client("sns"), world.client("sqs")
    topic = sns.create_topic(Name="trouble")["TopicArn"]
    queue = sqs.create_queue(QueueName="trouble")["QueueUrl"]
    sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=f"arn:aws:sqs:{REGION}:123456789012:trouble")
    assert world.deploy(resources(actions=(topic,))) == "CREATE_COMPLETE"
    write(world, {"alarm": "refused"})
    [message] = sqs.receive_message(QueueUrl=queue)["Messages"]
    told = json.loads(json.loads(message["Body"])["Message"])
    assert (told["AlarmName"], told["NewStateValue"]) == (world.physical_id("Alarm"), "ALARM")


def test_filter_and_alarm_change_in_place_and_go_with_the_stack(world: World) -> None:
    world.deploy(resources())
    group, *before = world.physical_id("Group"), world.physical_id("Filter"), world.physical_id("Alarm")
    assert world.deploy(resources('{ $.alarm = "lost" }', Threshold=2)) == "UPDATE_COMPLETE"
    assert [world.physical_id("Filter"), world.physical_id("Alarm")] == before
    logs, cloudwatch = world.client("logs"), world.client("cloudwatch")
    found = logs.describe_metric_filters(logGroupName=group)["metricFilters"]
    assert [one["filterPattern"] for one in found] == ['{ $.alarm = "lost" }']
    assert [one["Threshold"] for one in cloudwatch.describe_alarms(AlarmNames=before[1:])["MetricAlarms"]] == [2.0]
    assert world.delete() == "DELETE_COMPLETE"
    assert not logs.describe_metric_filters(logGroupName=group)["metricFilters"]
    assert not cloudwatch.describe_alarms(AlarmNames=before[1:])["MetricAlarms"]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (resources("ERROR"), "use the JSON form"),
        (resources(Metrics=[{"Id": "a", "Expression": "b * 2"}]), "an alarm on b * 2"),
        (resources(TreatMissingData={"Ref": "AWS::NoValue"}), "TreatMissingData None"),
    ],
)
def test_what_would_not_be_evaluated_as_on_aws_is_refused(world: World, wrong: dict[str, Any], said: str) -> None:
    assert world.deploy(wrong) == "ROLLBACK_COMPLETE"
    assert any(said in failure for failure in world.failures())


def test_the_history_of_an_alarm_has_its_states_newest_first(world: World) -> None:
    assert world.deploy(resources()) == "CREATE_COMPLETE"
    write(world, {"alarm": "refused"})
    cloudwatch, name = world.client("cloudwatch"), world.physical_id("Alarm")

    def states() -> list[str]:
        items = cloudwatch.describe_alarm_history(AlarmName=name, HistoryItemType="StateUpdate")["AlarmHistoryItems"]
        return [json.loads(item["HistoryData"])["newState"]["stateValue"] for item in items]

    until(lambda: states()[:2] == ["OK", "ALARM"])
    later = datetime.now(UTC) + timedelta(hours=1)
    assert cloudwatch.describe_alarm_history(AlarmName=name, StartDate=later)["AlarmHistoryItems"] == []


def test_a_search_with_a_json_pattern_finds_only_lines_that_match(world: World) -> None:
    assert world.deploy(resources()) == "CREATE_COMPLETE"
    write(world, {"alarm": "refused"}, {"alarm": "other"})
    found = world.client("logs").filter_log_events(logGroupName=world.physical_id("Group"), filterPattern=PATTERN)["events"]
    assert [json.loads(each["message"]) for each in found] == [{"alarm": "refused"}]
