"""Quotas: what is requested beside what is in use."""

from typing import Any

import pytest

from cli.preflight.account import Account
from cli.preflight.check import CheckResult
from cli.preflight.quotas import instance_quotas, network_quotas, storage_quotas
from tests.unit.cli.preflight.fake_aws import DENIED, FILE, IMPORTED, FakeAws, Pages, asked, outcomes, parsed, stacks

TYPES = ("ml.c5.xlarge", "ml.trn1.32xlarge", "ml.trn1n.32xlarge")
HYPERPOD = (
    "Total number of instances allowed across SageMaker HyperPod clusters",
    "Total number of Spot instances allowed across SageMaker HyperPod clusters",
    "Maximum number instances allowed per SageMaker HyperPod cluster",
    "Maximum size of EBS volume in GB for a SageMaker HyperPod cluster instance",
)
NAMES = (
    *(f"{each} for cluster usage" for each in TYPES),
    *(f"{each} for cluster spot instance usage" for each in TYPES),
    *HYPERPOD,
)
VPC: dict[str, float] = {
    "VPCs per Region": 5,
    "Internet gateways per Region": 5,
    "NAT gateways per Availability Zone": 5,
    "Network interfaces per Region": 50,
    "EC2-VPC Elastic IPs": 5,
}
FSX = {"Lustre Persistent_2 file systems": 100, "Lustre Persistent_2 storage capacity": 100_800}


def listed(values: dict[str, float], **more: Any) -> dict[str, Any]:
    """A page of quotas with these values."""
    quotas = [
        {"QuotaName": name, "QuotaCode": f"L-{number:08d}", "Value": value, "Adjustable": True, **more}
        for number, (name, value) in enumerate(values.items())
    ]
    return {"Quotas": quotas}


def sagemaker(values: dict[str, float], clusters: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    """An account with these quotas, room in all others, and these clusters."""
    by_name = {each["ClusterName"]: each for each in clusters or []}
    return {
        "service-quotas.list_service_quotas": listed(dict.fromkeys(NAMES, 100.0) | values),
        "service-quotas.list_aws_default_service_quotas": listed({}),
        "sagemaker.list_clusters": {"ClusterSummaries": [{"ClusterName": name} for name in by_name]},
        "sagemaker.describe_cluster": lambda ClusterName: by_name[ClusterName],  # noqa: N803  as boto3 spells it
    }


def cluster(name: str, **groups: Any) -> dict[str, Any]:
    """A cluster with nodes of these types: the current count and the one that it is on its way to."""
    told = [
        {"InstanceGroupName": "g", "InstanceType": kind, "CurrentCount": now, "TargetCount": then}
        for kind, (now, then) in groups["types"].items()
    ]
    return {"ClusterName": name, "InstanceGroups": told}


def named(found: list[CheckResult], name: str) -> CheckResult:
    """The finding on the quota of this name."""
    [finding] = [each for each in found if each.message.startswith(name)]
    return finding


def test_quotas_with_room_are_ok_and_show_their_figures() -> None:
    found = asked(instance_quotas, sagemaker({}))
    assert set(outcomes(found)) == {"ok"}
    assert [each.message for each in found] == [
        "ml.c5.xlarge for cluster usage: 100, 0 in use by others, 1 requested",
        "ml.trn1.32xlarge for cluster usage: 100, 0 in use by others, 4 requested",
        f"{HYPERPOD[0]}: 100, 0 in use by others, 5 requested",
        f"{HYPERPOD[2]}: 100, 0 in use, 5 requested",
    ]


def test_a_type_without_quota_is_an_error_with_a_link_to_ask_for_more() -> None:
    found = named(asked(instance_quotas, sagemaker({"ml.trn1.32xlarge for cluster usage": 0})), "ml.trn1.32xlarge")
    assert found.outcome == "error"
    assert found.message == "ml.trn1.32xlarge for cluster usage: 0, 0 in use by others, 4 requested"
    assert found.fix == "request 4 or more, which can take days, or reduce the file"
    assert found.link == ("https://us-west-2.console.aws.amazon.com/servicequotas/home/services/sagemaker/quotas/L-00000001")


def test_what_other_clusters_have_or_will_have_is_in_use_and_what_the_own_has_is_not() -> None:
    others = [cluster("theirs", types={"ml.trn1.32xlarge": (3, 7)}), cluster("mine", types={"ml.trn1.32xlarge": (4, 4)})]
    account = sagemaker({"ml.trn1.32xlarge for cluster usage": 10}, others)
    account["cloudformation.describe_stacks"] = stacks(Cluster={"ClusterName": "mine"})
    found = named(asked(instance_quotas, account), "ml.trn1.32xlarge")
    assert (found.outcome, found.message) == ("error", "ml.trn1.32xlarge for cluster usage: 10, 7 in use by others, 4 requested")


def test_all_clusters_and_all_quotas_are_read_also_from_further_pages() -> None:
    account = sagemaker({}, [cluster("one", types={"ml.c5.xlarge": (60, 60)}), cluster("two", types={"ml.c5.xlarge": (40, 40)})])
    whole = account["service-quotas.list_service_quotas"]["Quotas"]
    account["service-quotas.list_service_quotas"] = Pages(({"Quotas": whole[:1]}, {"Quotas": whole[1:], "NextToken": "x"}))
    account["sagemaker.list_clusters"] = Pages(
        ({"ClusterSummaries": [{"ClusterName": "one"}]}, {"ClusterSummaries": [{"ClusterName": "two"}]})
    )
    found = named(asked(instance_quotas, account), "ml.c5.xlarge")
    assert (found.outcome, found.message) == ("error", "ml.c5.xlarge for cluster usage: 100, 100 in use by others, 1 requested")


def test_spot_groups_count_against_the_quotas_of_spot_instances() -> None:
    file = FILE.replace("instance_count: 4}", "instance_count: 4, overrides: {CapacityRequirements: {Spot: {}}}}")
    found = asked(instance_quotas, sagemaker({"ml.trn1.32xlarge for cluster spot instance usage": 3}), file)
    assert named(found, "ml.trn1.32xlarge for cluster spot instance usage").outcome == "error"
    assert not [each for each in found if each.message.startswith("ml.trn1.32xlarge for cluster usage")]
    assert named(found, HYPERPOD[0]).message.endswith("1 requested")
    assert named(found, HYPERPOD[1]).message.endswith("4 requested")


def test_a_group_of_several_types_may_have_them_all_of_another_so_a_shortage_is_a_warning() -> None:
    mixed = "overrides: {InstanceType: null, InstanceRequirements: {InstanceTypes: [ml.trn1.32xlarge, ml.trn1n.32xlarge]}}"
    file = FILE.replace("instance_count: 4}", f"instance_count: 4, {mixed}}}")
    found = named(asked(instance_quotas, sagemaker({"ml.trn1n.32xlarge for cluster usage": 0}), file), "ml.trn1n.32xlarge")
    assert found.outcome == "warning"
    assert "may get only nodes of other types" in found.message


def test_of_a_training_plans_instances_a_shortage_is_a_warning() -> None:
    plan = "overrides: {TrainingPlanArn: arn:aws:sagemaker:us-west-2:123456789012:training-plan/p}"
    file = FILE.replace("instance_count: 4}", f"instance_count: 4, {plan}}}")
    found = named(asked(instance_quotas, sagemaker({"ml.trn1.32xlarge for cluster usage": 0}), file), "ml.trn1.32xlarge")
    assert found.outcome == "warning"
    assert named(asked(instance_quotas, sagemaker({HYPERPOD[0]: 1}), file), HYPERPOD[0]).outcome == "warning"
    assert named(asked(instance_quotas, sagemaker({HYPERPOD[0]: 0}), file), HYPERPOD[0]).outcome == "error", "head has no plan"
    assert "AWS does not say whether a training plan's instances count" in found.message


def test_volumes_are_held_to_their_quota() -> None:
    file = FILE.replace("instance_count: 4}", "instance_count: 4, volume_gib: 500}")
    assert named(asked(instance_quotas, sagemaker({HYPERPOD[3]: 499}), file), HYPERPOD[3]).outcome == "error"


def test_without_the_right_to_list_clusters_a_warning_precedes_the_rest() -> None:
    found = asked(instance_quotas, {**sagemaker({"ml.trn1.32xlarge for cluster usage": 3}), "sagemaker.list_clusters": DENIED})
    assert outcomes(found) == ["warning", "ok", "error", "ok", "ok"]
    assert "unknown in use" in found[1].message


def test_who_may_not_see_quotas_is_warned() -> None:
    account = {**sagemaker({}), "service-quotas.list_service_quotas": DENIED}
    assert outcomes(asked(instance_quotas, account)) == ["warning"]


def test_a_quota_that_the_account_has_no_value_of_has_awss_default() -> None:
    account = sagemaker({})
    account["service-quotas.list_service_quotas"] = listed({})
    account["service-quotas.list_aws_default_service_quotas"] = listed(dict.fromkeys(NAMES, 2.0))
    found = named(asked(instance_quotas, account), "ml.trn1.32xlarge")
    assert (found.outcome, found.message) == (
        "error",
        "ml.trn1.32xlarge for cluster usage: 2 (AWS's default), 0 in use by others, 4 requested",
    )


def test_an_unknown_quota_and_an_unreadable_one_are_warnings() -> None:
    account = sagemaker({})
    failed = {"QuotaName": NAMES[0], "QuotaCode": "L-1", "ErrorReason": {"ErrorCode": "DEPENDENCY_ACCESS_DENIED_ERROR"}}
    account["service-quotas.list_service_quotas"] = {"Quotas": [failed]}
    found = asked(instance_quotas, account)
    assert set(outcomes(found)) == {"warning"}
    assert found[0].message == "ml.c5.xlarge for cluster usage: Service Quotas has no quota with this name"


def network(**used: int) -> dict[str, Any]:
    """An account with quotas of networks, and so much of each in use."""
    subnets = [{"SubnetId": "subnet-here"}]
    gateways = [{"State": "available", "SubnetId": "subnet-here"}] * used.get("nat", 0)
    return {
        "service-quotas.list_service_quotas": listed(VPC),
        "ec2.describe_vpcs": {"Vpcs": [{}] * used.get("vpcs", 0)},
        "ec2.describe_internet_gateways": {"InternetGateways": [{}] * used.get("gateways", 0)},
        "ec2.describe_subnets": {"Subnets": subnets},
        "ec2.describe_nat_gateways": {"NatGateways": [*gateways, {"State": "deleted", "SubnetId": "subnet-here"}]},
        "ec2.describe_addresses": {"Addresses": [{}] * used.get("addresses", 0)},
        "ec2.describe_network_interfaces": {"NetworkInterfaces": [{}] * used.get("interfaces", 0)},
        "sagemaker.list_clusters": {"ClusterSummaries": []},
    }


def test_a_new_network_takes_a_vpc_gateways_an_address_and_interfaces() -> None:
    found = asked(network_quotas, network())
    assert [each.message.partition(":")[0] for each in found] == [
        "VPCs per Region",
        "Internet gateways per Region",
        "NAT gateways per Availability Zone",
        "EC2-VPC Elastic IPs",
        "Network interfaces per Region",
    ]
    assert set(outcomes(found)) == {"ok"}
    assert found[-1].message.endswith("34 requested"), "a controller, eight for each of four trn1.32xlarge, and a file system"


@pytest.mark.parametrize(
    ("used", "name"),
    [
        ({"vpcs": 5}, "VPCs"),
        ({"gateways": 5}, "Internet gateways"),
        ({"nat": 5}, "NAT gateways"),
        ({"addresses": 5}, "EC2-VPC"),
        ({"interfaces": 17}, "Network interfaces"),
    ],
)
def test_each_quota_of_networks_that_is_used_up_is_an_error(used: dict[str, int], name: str) -> None:
    found = asked(network_quotas, network(**used))
    assert [each.message.startswith(name) for each in found if each.outcome == "error"] == [True]


def test_of_a_network_that_is_there_only_interfaces_are_asked_for() -> None:
    assert [each.message.partition(":")[0] for each in asked(network_quotas, network(), IMPORTED)] == [
        "Network interfaces per Region"
    ]
    made = {**network(), "cloudformation.describe_stacks": stacks(Network={})}
    assert outcomes(asked(network_quotas, made)) == ["skipped", "ok"]


def test_the_interfaces_of_the_own_clusters_nodes_are_not_asked_for_again() -> None:
    account = network() | {
        "sagemaker.list_clusters": {"ClusterSummaries": [{"ClusterName": "mine"}]},
        "sagemaker.describe_cluster": cluster("mine", types={"ml.trn1.32xlarge": (4, 4)}),
        "cloudformation.describe_stacks": stacks(Cluster={"ClusterName": "mine"}, Storage={}),
    }
    assert asked(network_quotas, account)[-1].message.endswith("1 requested")
    coming = account | {"sagemaker.describe_cluster": cluster("mine", types={"ml.trn1.32xlarge": (1, 4)})}
    assert asked(network_quotas, coming)[-1].message.endswith("25 requested"), "those of the three that are not there yet as well"


def test_what_of_networks_may_not_be_counted_leaves_the_rest() -> None:
    account = network() | {"ec2.describe_internet_gateways": DENIED, "ec2.describe_nat_gateways": DENIED}
    assert outcomes(asked(network_quotas, account)) == ["ok", "warning", "ok", "ok"]


def file_system(number: int, capacity: int = 1200, **more: Any) -> dict[str, Any]:
    lustre = {"DeploymentType": "PERSISTENT_2"}
    system = {"FileSystemId": f"fs-{number}", "FileSystemType": "LUSTRE", "Lifecycle": "AVAILABLE"}
    return {**system, "StorageCapacity": capacity, "LustreConfiguration": lustre, **more}


def storage(*systems: dict[str, Any], **values: float) -> dict[str, Any]:
    return {
        "service-quotas.list_service_quotas": listed(FSX | values),
        "fsx.describe_file_systems": {"FileSystems": list(systems)},
    }


def test_a_new_file_systems_capacity_is_held_to_the_quota_of_its_type() -> None:
    other = file_system(2, 90_000, LustreConfiguration={"DeploymentType": "SCRATCH_2"})
    gone = file_system(3, 90_000, Lifecycle="DELETING")
    found = asked(storage_quotas, storage(file_system(1, 99_600), other, gone))
    assert outcomes(found) == ["ok", "ok"]
    assert found[1].message == "Lustre Persistent_2 storage capacity: 100,800 GiB, 99,600 in use by others, 1,200 requested"
    assert outcomes(asked(storage_quotas, storage(file_system(1, 100_800)))) == ["ok", "error"]


@pytest.mark.parametrize("other", [{"StorageType": "HDD"}, {"StorageType": "INTELLIGENT_TIERING", "StorageCapacity": None}])
def test_the_capacity_of_ssds_counts_only_ssds(other: dict[str, Any]) -> None:
    one = {key: value for key, value in (file_system(1, 100_800) | other).items() if value is not None}
    found = asked(storage_quotas, storage(one))
    assert outcomes(found) == ["ok", "ok"]
    assert found[0].message == "Lustre Persistent_2 file systems: 100, 1 in use by others, 1 requested"
    assert found[1].message == "Lustre Persistent_2 storage capacity: 100,800 GiB, 0 in use by others, 1,200 requested"


def test_the_own_file_system_is_not_in_its_own_way() -> None:
    account = storage(file_system(1, 100_800)) | {"cloudformation.describe_stacks": stacks(Storage={"FileSystemId": "fs-1"})}
    assert outcomes(asked(storage_quotas, account)) == ["ok", "ok"]


def test_without_a_new_file_system_nothing_is_asked_of_fsx() -> None:
    aws = FakeAws({})
    assert outcomes(asked(storage_quotas, aws, IMPORTED)) == ["skipped"]
    assert aws.asked == []


@pytest.mark.parametrize(
    ("arn", "console"),
    [
        ("arn:aws-cn:sts::123456789012:user/me", "https://console.amazonaws.cn"),
        ("arn:aws-us-gov:sts::123456789012:user/me", "https://console.amazonaws-us-gov.com"),
        ("arn:aws:sts::123456789012:user/me", "https://us-west-2.console.aws.amazon.com"),
    ],
)
def test_links_lead_to_the_partitions_own_console(arn: str, console: str) -> None:
    aws = FakeAws({"sts.get_caller_identity": {"Account": "123456789012", "Arn": arn}})
    assert Account(parsed(FILE), aws).console == console
