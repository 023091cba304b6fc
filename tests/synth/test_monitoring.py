"""The monitoring stack: notifications, metrics, alarms and the dashboard."""

import json
from typing import Any

import pytest

from config.operation_names import alarm_names
from tests.synth.synthesized import CLUSTER, MONITORING, StackTemplate, Synthesized
from tests.synth.variants import TOPIC

NODES = {"SlurmctldDown", "SlurmdbdDown", "NodesDrained", "NodesDown", "DiskSpaceLow", "BundleFailed"}
FILE_SYSTEM = {"FileSystemSpaceLow", "FileSystemThroughputHigh"}
EVENTS = {"NodeFault", "Warnings"}
MACHINERY = {"Cluster-AnswerRefused", "Cluster-DeletionFailed", "Cluster-RequestUnanswered"}
NEW_TOPIC = "arn:{AWS::Partition}:sns:{AWS::Region}:{AWS::AccountId}:reference-monitoring"


@pytest.fixture
def reference(shipped: Synthesized) -> StackTemplate:
    return shipped["reference", MONITORING]


def alarms(stack: StackTemplate, cluster: str = "reference") -> dict[str, dict[str, Any]]:
    """Return the properties of the alarms, by their names without the cluster's."""
    found = [resource["Properties"] for resource in stack.of_type("AWS::CloudWatch::Alarm").values()]
    return {alarm["AlarmName"].removeprefix(f"{cluster}-"): alarm for alarm in found}


def filters(stack: StackTemplate) -> dict[str, dict[str, Any]]:
    """Return the metric filters by the name of their metric."""
    found = [resource["Properties"] for resource in stack.of_type("AWS::Logs::MetricFilter").values()]
    return {each["MetricTransformations"][0]["MetricName"]: each for each in found}


def flat(value: Any) -> str:
    """Return the text of a joined value, with references in braces."""
    match value:
        case {"Fn::Join": [separator, parts]}:
            return str(separator).join(map(flat, parts))
        case {"Ref": name}:
            return f"{{{name}}}"
        case {"Fn::GetStackOutput": {"OutputName": name}}:
            return f"{{{name}}}"
    return str(value)


def test_each_alarm_says_what_to_do_and_notifies_the_new_topic(reference: StackTemplate) -> None:
    found = alarms(reference)
    assert set(found) == {*NODES, *FILE_SYSTEM, *EVENTS}
    topic = {"Ref": reference.one("AWS::SNS::Topic")[0]}
    for alarm in found.values():
        assert alarm["AlarmActions"] == [topic]
        assert "./hpod " in alarm["AlarmDescription"]


def test_the_command_line_knows_the_name_of_every_alarm(shipped: Synthesized, reference: StackTemplate) -> None:
    found = {*alarms(reference), *alarms(shipped["reference", CLUSTER])}
    assert sorted(f"reference-{name}" for name in found) == sorted(alarm_names("reference"))


def test_each_alarm_on_reports_has_a_filter_for_its_metric(reference: StackTemplate) -> None:
    counted = filters(reference)
    for name, alarm in alarms(reference).items():
        if name in FILE_SYSTEM | {"Warnings"}:
            continue
        transformation = counted[alarm["MetricName"]]["MetricTransformations"][0]
        assert (transformation["MetricNamespace"], alarm["Namespace"]) == ("hyperpod-cdk/reference",) * 2


def test_thresholds_follow_the_file(variants: Synthesized, reference: StackTemplate) -> None:
    changed = alarms(variants["notified", MONITORING], "notified")
    assert (changed["NodesDrained"]["Threshold"], alarms(reference)["NodesDrained"]["Threshold"]) == (3, 1)
    assert "$.disks[0].free_percent < 20" in filters(variants["notified", MONITORING])["full-disks"]["FilterPattern"]
    assert alarms(reference)["FileSystemSpaceLow"]["Threshold"] == 1200 * 2**30 // 10
    # 1.2 TiB at 250 MB/s per TiB, of which 90 %, in 300 seconds.
    assert alarms(reference)["FileSystemThroughputHigh"]["Threshold"] == 81_000_000_000


def test_the_alarms_of_the_machinery_notify_the_same_topic_unless_the_file_names_another(
    variants: Synthesized, shipped: Synthesized
) -> None:
    def actions(synthesized: Synthesized, cluster: str) -> set[str]:
        found = alarms(synthesized[cluster, CLUSTER], cluster)
        assert set(found) == MACHINERY
        return {flat(action) for alarm in found.values() for action in alarm.get("AlarmActions", ["none"])}

    assert actions(shipped, "reference") == {NEW_TOPIC}
    assert actions(variants, "existing-topic") == {TOPIC}
    assert actions(variants, "alarm-topic") == {TOPIC}
    assert actions(variants, "unmonitored") == {"none"}


def test_an_existing_topic_gets_no_policy(variants: Synthesized) -> None:
    stack = variants["existing-topic", MONITORING]
    assert not stack.of_type("AWS::SNS::Topic", "AWS::SNS::TopicPolicy", "AWS::KMS::Key")
    assert {action for alarm in alarms(stack).values() for action in alarm["AlarmActions"]} == {TOPIC}


def test_e_mail_and_chat_are_subscribed_by_a_role_without_permissions(variants: Synthesized, reference: StackTemplate) -> None:
    stack = variants["notified", MONITORING]
    topic, role = {"Ref": stack.one("AWS::SNS::Topic")[0]}, stack.one("AWS::IAM::Role")
    assert stack.properties("AWS::SNS::Subscription") | {"Endpoint": "ops@example.com", "TopicArn": topic} == stack.properties(
        "AWS::SNS::Subscription"
    )
    for kind in ("SlackChannelConfiguration", "MicrosoftTeamsChannelConfiguration"):
        channel = stack.properties(f"AWS::Chatbot::{kind}")
        assert (channel["SnsTopicArns"], channel["IamRoleArn"]) == ([topic], {"Fn::GetAtt": [role[0], "Arn"]})
    assert not {"Policies", "ManagedPolicyArns"} & set(role[1]["Properties"])
    assert not reference.of_type("AWS::IAM::Role", "AWS::SNS::Subscription")


def test_the_dashboard_shows_every_alarm_of_the_cluster(reference: StackTemplate) -> None:
    body = json.loads(flat(reference.properties("AWS::CloudWatch::Dashboard")["DashboardBody"]))
    first, *rest = body["widgets"]
    names = {arn.rpartition(":alarm:reference-")[2] for arn in first["properties"]["alarms"]}
    assert names == {*alarms(reference), *MACHINERY}
    assert {widget["type"] for widget in rest} == {"metric"}
    assert all(widget["x"] + widget["width"] <= 24 for widget in body["widgets"])


def test_the_dashboards_metrics_exist(reference: StackTemplate) -> None:
    body = json.loads(flat(reference.properties("AWS::CloudWatch::Dashboard")["DashboardBody"]))
    shown = {metric[1] for widget in body["widgets"][1:] for metric in widget["properties"]["metrics"] if "hyperpod" in metric[0]}
    assert shown < set(filters(reference))


@pytest.mark.parametrize(
    ("variant", "missing"),
    [("without-agent", NODES), ("not-waiting", {"NodeFault"}), ("no-storage", FILE_SYSTEM), ("existing-storage", FILE_SYSTEM)],
)
def test_alarms_without_data_are_left_out(variants: Synthesized, variant: str, missing: set[str]) -> None:
    assert set(alarms(variants[variant, MONITORING], variant)) == {*NODES, *FILE_SYSTEM, *EVENTS} - missing


def test_a_cluster_without_monitoring_has_no_such_stack(variants: Synthesized) -> None:
    assert ("unmonitored", MONITORING) not in variants.templates


def identity(variants: Synthesized, variant: str) -> str:
    """Return the hash that makes CloudFormation read the IDs of the cluster and the file system again."""
    value: str = variants[variant, MONITORING].one("AWS::CloudWatch::Dashboard")[1]["Metadata"]["Identity"]
    return value


@pytest.mark.parametrize("change", ["other-zone", "existing-network", "named", "recreated", "persistent-1", "existing-storage"])
def test_a_replaced_cluster_or_file_system_changes_the_template(variants: Synthesized, change: str) -> None:
    assert identity(variants, change) != identity(variants, "same")


@pytest.mark.parametrize("change", ["more-nodes", "other-partition", "tagged", "alarm-topic"])
def test_other_changes_keep_the_template(variants: Synthesized, change: str) -> None:
    assert identity(variants, change) == identity(variants, "same")


def test_warnings_notify_once_they_last_longer_than_a_scaling(reference: StackTemplate) -> None:
    counted = [rule for each in reference.of_type("AWS::Events::Rule").values() if "Targets" not in (rule := each["Properties"])]
    assert [rule["EventPattern"]["detail"] for rule in counted] == [{"EventDetails": {"EventLevel": ["Warn"]}}]
    alarm = alarms(reference)["Warnings"]
    assert alarm["Dimensions"] == [{"Name": "RuleName", "Value": counted[0]["Name"]}]
    assert (alarm["Namespace"], alarm["MetricName"]) == ("AWS/Events", "TriggeredRules")
    assert alarm["Period"] * (alarm["EvaluationPeriods"] - 1) == 3600


def test_only_cloudwatch_and_events_of_the_account_may_publish_to_the_new_topic(reference: StackTemplate) -> None:
    allow, deny = reference.properties("AWS::SNS::TopicPolicy")["PolicyDocument"]["Statement"]
    assert set(allow["Principal"]["Service"]) == {"cloudwatch.amazonaws.com", "events.amazonaws.com"}
    assert allow["Condition"] == {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}
    assert deny["Effect"] == "Deny"


def test_the_key_of_the_topic_has_no_condition_for_eventbridge(reference: StackTemplate) -> None:
    _, alarm, event = reference.properties("AWS::KMS::Key")["KeyPolicy"]["Statement"]
    assert alarm["Principal"] == {"Service": "cloudwatch.amazonaws.com"}
    assert alarm["Condition"] == {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}
    assert event["Principal"] == {"Service": "events.amazonaws.com"}
    assert "Condition" not in event
