"""Where types are offered, and what training plans have."""

from datetime import UTC, datetime
from typing import Any

import pytest

from cli.preflight.capacity import offerings, training_plans
from tests.unit.cli.preflight.fake_aws import DENIED, FILE, Pages, asked, only, outcomes, refused, stacks

PLAN = "arn:aws:sagemaker:us-west-2:123456789012:training-plan/summer"
PLANNED = FILE.replace("instance_count: 4}", f"instance_count: 4, overrides: {{TrainingPlanArn: {PLAN}}}}}")


def offered(**zones: list[str]) -> dict[str, Any]:
    """Where these types (their dots written as underscores) are."""
    told = [{"InstanceType": name.replace("_", "."), "Location": zone} for name, found in zones.items() for zone in found]
    return {"ec2.describe_instance_type_offerings": {"InstanceTypeOfferings": told}}


def test_types_that_the_zone_has_are_well_and_no_promise_is_made() -> None:
    found = asked(offerings, offered(c5_xlarge=["usw2-az4"], trn1_32xlarge=["usw2-az4"]))
    assert outcomes(found) == ["ok", "ok"]
    assert "EC2 does not report free capacity" in found[0].message


def test_a_type_of_other_zones_is_an_error_that_names_them() -> None:
    found = asked(offerings, offered(c5_xlarge=["usw2-az4"], trn1_32xlarge=["usw2-az2", "usw2-az1"]))
    assert outcomes(found) == ["ok", "error"]
    assert found[1].message == "ml.trn1.32xlarge is not offered in usw2-az4, but in usw2-az1, usw2-az2"


def test_a_type_that_ec2_lists_nowhere_in_the_region_is_a_warning() -> None:
    assert outcomes(asked(offerings, offered(c5_xlarge=["usw2-az4"]))) == ["ok", "warning"]


def test_a_type_that_neither_hyperpod_nor_ec2_has_is_an_error() -> None:
    file = FILE.replace("ml.trn1.32xlarge", "ml.trn1.16xlarge")
    found = asked(offerings, offered(c5_xlarge=["usw2-az4"]), file)
    assert outcomes(found) == ["ok", "error"]
    assert outcomes(asked(offerings, offered(c5_xlarge=["usw2-az4"], trn1_16xlarge=["usw2-az4"]), file)) == ["ok", "ok"]


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


def test_who_may_not_ask_for_offerings_is_warned() -> None:
    assert outcomes(asked(offerings, {"ec2.describe_instance_type_offerings": DENIED})) == ["warning"]


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


def test_without_a_plan_nothing_is_asked() -> None:
    assert outcomes(asked(training_plans, {})) == ["skipped"]


def test_a_plan_that_has_all_is_well() -> None:
    assert only(asked(training_plans, plan(), PLANNED)).message == "summer is Active, 4 of 4 free"


@pytest.mark.parametrize(
    ("changed", "outcome", "said"),
    [
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
def test_a_plan_that_lacks_the_requested_capacity_is_reported(changed: dict[str, Any], outcome: str, said: str) -> None:
    found = asked(training_plans, plan(**changed), PLANNED)
    assert (found[0].outcome, found[0].message) == (outcome, said)


def test_a_plan_that_has_not_begun_is_held_to_all_that_it_will_have() -> None:
    found = asked(training_plans, plan(Status="Scheduled", TotalInstanceCount=3, AvailableInstanceCount=0), PLANNED)
    assert outcomes(found) == ["warning", "error"]


def test_what_the_own_cluster_has_of_the_plan_is_not_asked_for_again() -> None:
    groups = [{"InstanceGroupName": "work", "InstanceType": "ml.trn1.32xlarge", "CurrentCount": 4, "TrainingPlanArn": PLAN}]
    own = {
        "sagemaker.list_clusters": {"ClusterSummaries": [{"ClusterName": "mine"}]},
        "sagemaker.describe_cluster": {"ClusterName": "mine", "InstanceGroups": groups},
        "cloudformation.describe_stacks": stacks(Cluster={"ClusterName": "mine"}),
    }
    assert outcomes(asked(training_plans, plan(AvailableInstanceCount=0) | own, PLANNED)) == ["ok"]


def test_a_plan_that_is_not_there_is_an_error() -> None:
    found = only(asked(training_plans, {"sagemaker.describe_training_plan": refused("ResourceNotFound")}, PLANNED))
    assert (found.outcome, found.message) == ("error", "no training plan summer in us-west-2")


def test_who_may_not_see_the_plan_is_warned() -> None:
    assert outcomes(asked(training_plans, {"sagemaker.describe_training_plan": DENIED}, PLANNED)) == ["warning"]
    expired = plan(Status="Expired") | {"sagemaker.list_clusters": DENIED}
    assert outcomes(asked(training_plans, expired, PLANNED)) == ["error", "warning"]
