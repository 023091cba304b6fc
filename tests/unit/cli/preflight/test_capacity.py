"""Where types are offered, and what training plans have."""

from datetime import UTC, datetime
from typing import Any

import pytest

from cli.preflight.capacity import offerings, training_plans
from tests.unit.cli.preflight.fake_aws import DENIED, FILE, Pages, asked, lines, outcomes, refused, stacks

PLAN = "arn:aws:sagemaker:us-west-2:123456789012:training-plan/summer"
PLANNED = FILE.replace("instance_count: 4}", f"instance_count: 4, overrides: {{TrainingPlanArn: {PLAN}}}}}")


def offered(**zones: list[str]) -> dict[str, Any]:
    """Where these types (their dots written as underscores) are."""
    told = [{"InstanceType": name.replace("_", "."), "Location": zone} for name, found in zones.items() for zone in found]
    return {"ec2.describe_instance_type_offerings": {"InstanceTypeOfferings": told}}


UNKNOWN_TYPE = FILE.replace("ml.trn1.32xlarge", "ml.trn1.16xlarge")


@pytest.mark.parametrize(
    ("file", "zones", "outcome", "message"),
    [
        (FILE, {"trn1_32xlarge": ["usw2-az4"]}, "ok", "EC2 does not report free capacity"),
        (
            *(FILE, {"trn1_32xlarge": ["usw2-az2", "usw2-az1"]}, "error"),
            "ml.trn1.32xlarge is not offered in usw2-az4, but in usw2-az1, usw2-az2",
        ),
        (FILE, {}, "warning", ""),
        (UNKNOWN_TYPE, {}, "error", ""),
        (UNKNOWN_TYPE, {"trn1_16xlarge": ["usw2-az4"]}, "ok", ""),
    ],
    ids=["no promise is made", "other zones are named", "listed nowhere", "unknown to HyperPod too", "known to EC2"],
)
def test_a_type_is_offered_in_the_zone(file: str, zones: dict[str, list[str]], outcome: str, message: str) -> None:
    first, second = asked(offerings, offered(c5_xlarge=["usw2-az4"], **zones), file)
    assert (first.outcome, second.outcome) == ("ok", outcome)
    assert message in second.message


def test_a_group_with_subnets_of_its_own_is_asked_for_in_their_zone() -> None:
    own = "OverrideVpcConfig: {Subnets: [subnet-00000002], SecurityGroupIds: [sg-00000001]}"
    file = FILE.replace("instance_count: 4}", f"instance_count: 4, overrides: {{{own}}}}}")
    file += "overrides: {VpcConfig: {Subnets: [subnet-00000001], SecurityGroupIds: [sg-00000001]}}\n"
    account = offered(c5_xlarge=["usw2-az4"], trn1_32xlarge=["usw2-az1"])
    elsewhere = account | {"ec2.describe_subnets": {"Subnets": [{"AvailabilityZoneId": "usw2-az1"}]}}
    assert outcomes(asked(offerings, elsewhere, file)) == ["ok", "ok"]
    here = account | {"ec2.describe_subnets": {"Subnets": [{"AvailabilityZoneId": "usw2-az4"}]}}
    found = asked(offerings, here, file)
    assert outcomes(found) == ["ok", "error"]
    assert found[1].fix == "give work subnets in one of these zones in `OverrideVpcConfig`, or use another type"
    absent = account | {"ec2.describe_subnets": refused("InvalidSubnetID.NotFound")}
    assert [each.message.split()[0] for each in asked(offerings, absent, file)] == ["ml.c5.xlarge"], (
        "the subnets' check tells of it"
    )
    nowhere = {"ec2.describe_subnets": refused("InvalidSubnetID.NotFound")}
    assert outcomes(asked(offerings, nowhere, file.replace("count: 1}", f"count: 1, overrides: {{{own}}}}}"))) == ["skipped"]


def test_where_a_group_may_get_its_nodes_all_the_same_a_zone_without_the_type_is_a_warning() -> None:
    elsewhere = offered(c5_xlarge=["usw2-az4"], trn1_32xlarge=["usw2-az1"])
    planned = asked(offerings, elsewhere, PLANNED)
    assert outcomes(planned) == ["ok", "warning"]
    assert "(the training plan determines the zone)" in planned[1].message
    own = "OverrideVpcConfig: {Subnets: [subnet-00000001, subnet-00000002], SecurityGroupIds: [sg-00000001]}"
    zones = {"subnet-00000001": "usw2-az1", "subnet-00000002": "usw2-az2"}
    account = elsewhere | {
        "ec2.describe_subnets": lambda SubnetIds: {"Subnets": [{"AvailabilityZoneId": zones[SubnetIds[0]]}]}  # noqa: N803  as boto3
    }
    existing = "{vpc_id: vpc-00000001, node_subnet_ids: [subnet-00000001], security_group_id: sg-00000001}"
    kept = FILE.replace("usw2-az4}", f"usw2-az4, existing: {existing}}}")
    spread = asked(offerings, account, kept.replace("instance_count: 4}", f"instance_count: 4, overrides: {{{own}}}}}"))
    assert [each.message.partition(" (")[2] for each in spread if each.outcome == "warning"] == [
        "its group has subnets in several zones)"
    ]


def test_all_pages_of_offerings_are_read() -> None:
    [first, second] = [
        offered(**each)["ec2.describe_instance_type_offerings"]
        for each in ({"c5_xlarge": ["usw2-az4"]}, {"trn1_32xlarge": ["usw2-az4"]})
    ]
    assert outcomes(asked(offerings, {"ec2.describe_instance_type_offerings": Pages((first, second))})) == ["ok", "ok"]


def plan(**changed: Any) -> dict[str, Any]:
    """An account with the plan, and no clusters."""
    capacity = {"InstanceType": "ml.trn1.32xlarge", "AvailabilityZoneId": "usw2-az4", "TotalInstanceCount": 4}
    told = {
        "TrainingPlanName": "summer",
        "Status": "Active",
        "TotalInstanceCount": 4,
        "AvailableInstanceCount": 4,
        "TargetResources": ["hyperpod-cluster"],
        "ReservedCapacitySummaries": [capacity],
    }
    return {"sagemaker.describe_training_plan": told | changed, "sagemaker.list_clusters": {"ClusterSummaries": []}}


@pytest.mark.parametrize(
    ("changed", "outcome", "said"),
    [
        ({}, "ok", "summer is Active, 4 of 4 free"),
        ({"Status": "Expired"}, "error", "summer is Expired"),
        ({"Status": "Failed", "StatusMessage": "no capacity"}, "error", "summer is Failed: no capacity"),
        (
            {"Status": "Scheduled", "StartTime": datetime(2027, 1, 2, 11, 30, tzinfo=UTC)},
            "warning",
            "summer is Scheduled, from 2027-01-02 11:30 UTC",
        ),
        ({"TargetResources": ["training-job"]}, "error", "summer is for training-job"),
        ({"AvailableInstanceCount": 3}, "error", "summer has 3 instances free for this cluster, and 4 are requested"),
        ({"Status": "Scheduled", "TotalInstanceCount": 3}, "warning", "summer is Scheduled"),
        (
            {"ReservedCapacitySummaries": [{"InstanceType": "ml.p5.48xlarge", "AvailabilityZoneId": "usw2-az4"}]},
            "error",
            "summer has ml.p5.48xlarge, and group work requests ml.trn1.32xlarge",
        ),
        (
            {"ReservedCapacitySummaries": [{"InstanceType": "ml.trn1.32xlarge", "AvailabilityZoneId": "usw2-az1"}]},
            "error",
            "summer has its instances in usw2-az1, and the nodes' zone is usw2-az4",
        ),
    ],
)
def test_a_plan_has_the_requested_capacity(changed: dict[str, Any], outcome: str, said: str) -> None:
    found = asked(training_plans, plan(**changed), PLANNED)
    assert (found[0].outcome, found[0].message) == (outcome, said)


def test_a_plan_that_is_missing_or_will_have_too_little_is_an_error() -> None:
    absent = {"sagemaker.describe_training_plan": refused("ResourceNotFound")}
    assert lines(asked(training_plans, absent, PLANNED)) == ["error: no training plan summer in us-west-2"]
    not_begun = plan(Status="Scheduled", TotalInstanceCount=3, AvailableInstanceCount=0)
    assert outcomes(asked(training_plans, not_begun, PLANNED)) == ["warning", "error"]


def test_what_the_own_cluster_has_of_the_plan_is_not_asked_for_again() -> None:
    groups = [{"InstanceGroupName": "work", "InstanceType": "ml.trn1.32xlarge", "CurrentCount": 4, "TrainingPlanArn": PLAN}]
    own = {
        "sagemaker.list_clusters": {"ClusterSummaries": [{"ClusterName": "mine"}]},
        "sagemaker.describe_cluster": {"ClusterName": "mine", "InstanceGroups": groups},
        "cloudformation.describe_stacks": stacks(Cluster={"ClusterName": "mine"}),
    }
    assert outcomes(asked(training_plans, plan(AvailableInstanceCount=0) | own, PLANNED)) == ["ok"]


def test_a_plan_is_reported_although_the_clusters_may_not_be_listed() -> None:
    expired = plan(Status="Expired") | {"sagemaker.list_clusters": DENIED}
    assert outcomes(asked(training_plans, expired, PLANNED)) == ["error", "warning"]
