"""Alarms on failures that CloudFormation does not show."""

from typing import Any

import pytest

from tests.synth.synthesized import CLUSTER, StackTemplate, Synthesized
from tests.synth.variants import TOPIC

KINDS = ("AnswerRefused", "DeletionFailed", "RequestUnanswered")


def alarms(stack: StackTemplate) -> dict[str, dict[str, Any]]:
    """Return the properties of the alarms by kind."""
    return {kind: stack.properties("AWS::CloudWatch::Alarm", named=kind) for kind in KINDS}


@pytest.mark.fault(30)
@pytest.mark.fault(41)
def test_each_alarm_fires_at_the_first_occurrence_and_is_ok_without_data(shipped: Synthesized) -> None:
    found = alarms(shipped["reference", CLUSTER])
    expected = {"Statistic": "Sum", "Threshold": 1, "EvaluationPeriods": 1, "TreatMissingData": "notBreaching"}
    assert all(alarm | expected == alarm for alarm in found.values())


@pytest.mark.fault(30)
@pytest.mark.fault(41)
def test_metric_filters_on_the_step_and_the_responder_feed_the_alarms(shipped: Synthesized) -> None:
    stack = shipped["reference", CLUSTER]
    filters = [resource["Properties"] for resource in stack.of_type("AWS::Logs::MetricFilter").values()]
    logs = {
        stack.properties("AWS::Lambda::Function", named=f"Provider{name}")["LoggingConfig"]["LogGroup"]["Ref"]
        for name in ("Step", "Responder")
    }
    assert {each["LogGroupName"]["Ref"] for each in filters} == logs
    for each in filters:
        [counted] = each["MetricTransformations"]
        for kind in ("AnswerRefused", "DeletionFailed"):
            alarm = alarms(stack)[kind]
            assert (alarm["Namespace"], alarm["MetricName"]) == (counted["MetricNamespace"], counted["MetricName"])
            [dimension] = alarm["Dimensions"]
            assert f'$.alarm = "{dimension["Value"]}"' in each["FilterPattern"]


def test_alarms_notify_the_topic_of_the_file(variants: Synthesized) -> None:
    stack = variants["alarm-topic", CLUSTER]
    assert [alarm["AlarmActions"] for alarm in alarms(stack).values()] == [[TOPIC]] * len(KINDS)
