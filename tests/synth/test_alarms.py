"""Alarms on what CloudFormation is not told, or does not show."""

from typing import Any

import pytest

from tests.synth.synthesized import CLUSTER, StackTemplate, Synthesized
from tests.synth.variants import TOPIC

KINDS = ("AnswerRefused", "DeletionFailed", "RequestUnanswered")


def alarms(stack: StackTemplate) -> dict[str, dict[str, Any]]:
    """The alarms' properties by what they are on."""
    return {kind: stack.properties("AWS::CloudWatch::Alarm", named=kind) for kind in KINDS}


@pytest.mark.fault(30)
@pytest.mark.fault(41)
def test_each_alarm_rings_at_the_first_time_and_is_well_without_data(shipped: Synthesized) -> None:
    found = alarms(shipped["reference", CLUSTER])
    rings = {"Statistic": "Sum", "Threshold": 1, "EvaluationPeriods": 1, "TreatMissingData": "notBreaching"}
    assert all(alarm | rings == alarm for alarm in found.values())
    assert not any("AlarmActions" in alarm for alarm in found.values())


@pytest.mark.fault(30)
@pytest.mark.fault(41)
def test_every_function_that_answers_is_counted_for_the_alarms_that_look_at_the_count(shipped: Synthesized) -> None:
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


def test_the_file_names_who_is_told(variants: Synthesized) -> None:
    stack = variants["told-of-alarms", CLUSTER]
    assert [alarm["AlarmActions"] for alarm in alarms(stack).values()] == [[TOPIC]] * len(KINDS)
