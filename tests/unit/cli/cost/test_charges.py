"""What of a cluster is charged by the hour or by its size, and what an estimate says beside."""

from datetime import date
from decimal import Decimal

import pytest

from cli.cost.charges import NAT_GATEWAY, PUBLIC_ADDRESS, VOLUME, Charge, Unknown, charges_of, instance, lustre
from cli.cost.command import notes_on
from cluster_request.eks_addons import standard_support_end, versions
from config.model import ClusterConfig
from local_aws.eks.versions import VERSIONS
from tests.cluster_files import EXAMPLES
from tests.unit.cli.cost.clusters import cluster
from validation.load import parse_cluster

PLAN = "arn:aws:sagemaker:us-west-2:123456789012:training-plan/ours"
THERE = {"vpc_id": "vpc-01234567", "node_subnet_ids": ["subnet-01234567"], "security_group_id": "sg-01234567"}


def charge(config: ClusterConfig, name: str) -> Charge:
    """The one charge of this name."""
    [found] = [each for each in charges_of(config) if each.name == name]
    return found


def why(found: Charge) -> str:
    """Why nobody can say what the charge's price is."""
    assert isinstance(found.product, Unknown)
    return found.product.why


def test_each_group_is_charged_by_its_nodes_and_as_hyperpods_own() -> None:
    found = charge(cluster(), "work")
    assert (found.what, found.amount, found.product) == (
        "4 x ml.g5.8xlarge, 1 thread per core",
        Decimal(4),
        instance("ml.g5.8xlarge"),
    )
    assert instance("ml.g5.8xlarge").service == "AmazonSageMaker"


def test_an_override_of_the_type_is_what_is_charged() -> None:
    found = charge(cluster(work={"overrides": {"InstanceType": "ml.g5.12xlarge", "ThreadsPerCore": 2}}), "work")
    assert (found.what, found.product) == ("4 x ml.g5.12xlarge, 2 threads per core", instance("ml.g5.12xlarge"))


@pytest.mark.parametrize(
    "work",
    [
        {"volume_gib": 500},
        {"overrides": {"InstanceStorageConfigs": [{"EbsVolumeConfig": {"VolumeSizeInGB": 500}}]}},
    ],
)
def test_an_additional_volume_of_each_node_is_charged(work: dict[str, object]) -> None:
    [_, found] = [each for each in charges_of(cluster(work=work)) if each.name == "work"]
    assert (found.what, found.amount, found.product) == ("4 x volume of 500 GB", Decimal(2000), VOLUME)


def test_a_root_volume_with_a_key_of_its_own_is_no_volume_more() -> None:
    root = {"EbsVolumeConfig": {"RootVolume": True, "VolumeKmsKeyId": "11111111-2222-3333-4444-555555555555"}}
    charges = charges_of(cluster(work={"overrides": {"InstanceStorageConfigs": [root]}}))
    assert [each.what for each in charges if each.name == "work"] == ["4 x ml.g5.8xlarge, 1 thread per core"]


@pytest.mark.parametrize(
    ("overrides", "reason"),
    [
        ({"TrainingPlanArn": PLAN}, "paid with the training plan"),
        ({"CapacityRequirements": {"Spot": {}}}, "the Spot price varies"),
        (
            {"InstanceType": None, "InstanceRequirements": {"InstanceTypes": ["ml.g5.8xlarge", "ml.g5.12xlarge"]}},
            "HyperPod chooses the instance types",
        ),
    ],
)
def test_nodes_without_a_list_price_are_unknown_and_say_why(overrides: dict[str, object], reason: str) -> None:
    work: dict[str, object] = {"instance_type": "ml.p5.48xlarge", "overrides": overrides}
    config = cluster(work=work, overrides={"NodeProvisioningMode": "Continuous"})
    assert why(charge(config, "work")) == reason


def test_a_restricted_group_is_charged_by_its_nodes_and_its_file_system_is_unknown() -> None:
    sealed = {
        "InstanceGroupName": "sealed",
        "InstanceType": "ml.p5.48xlarge",
        "InstanceCount": 2,
        "ExecutionRole": "arn:aws:iam::123456789012:role/ours",
        "EnvironmentConfig": {"FSxLustreConfig": {"SizeInGiB": 4800, "PerUnitStorageThroughput": 250}},
    }
    nodes, system = (
        each for each in charges_of(cluster(overrides={"RestrictedInstanceGroups": [sealed]})) if each.name == "sealed"
    )
    assert (nodes.amount, nodes.product) == (Decimal(2), instance("ml.p5.48xlarge"))
    assert system.what == "HyperPod's own FSx for Lustre, 4800 GiB"
    assert why(system) == "AWS does not document its price"


def test_one_type_to_choose_from_is_that_type() -> None:
    overrides = {"InstanceType": None, "InstanceRequirements": {"InstanceTypes": ["ml.g5.12xlarge"]}}
    assert charge(cluster(work={"overrides": overrides}), "work").product == instance("ml.g5.12xlarge")


def test_the_file_system_is_charged_by_capacity_throughput_and_type() -> None:
    system = {"storage_capacity_gib": 2400, "throughput_mbps_per_tib": 200, "deployment_type": "PERSISTENT_1", "version": "2.12"}
    found = charge(cluster(storage={"lustre": system}), "FSx for Lustre")
    assert (found.what, found.amount) == ("2400 GiB PERSISTENT_1, 200 MB/s per TiB", Decimal(2400))
    assert found.product == lustre(200)


def test_a_network_of_ours_has_one_gateway_and_its_address() -> None:
    found = {each.name: each.product for each in charges_of(cluster()) if each.section == "network"}
    assert found == {"NAT gateway": NAT_GATEWAY, "public IPv4 address": PUBLIC_ADDRESS}


def test_what_is_there_already_is_not_charged() -> None:
    config = cluster(
        network={"availability_zone_id": "usw2-az4", "existing": THERE},
        storage={"existing": {"file_system_id": "fs-01234567", "mount_name": "abcdefgh"}},
    )
    assert {each.section for each in charges_of(config)} == {"instance groups"}


def test_an_imported_network_for_which_we_make_the_way_out_is_charged_for_it() -> None:
    config = cluster(network={"availability_zone_id": "usw2-az4", "existing": {**THERE, "internet_access": "create"}})
    assert [each.name for each in charges_of(config) if each.section == "network"] == ["NAT gateway", "public IPv4 address"]


@pytest.mark.parametrize("removal", ["retain", "destroy"])
def test_the_cost_after_a_destroy_is_stated(removal: str) -> None:
    config = cluster(removal=removal, storage={"lustre": {"removal": removal}})
    assert len([note for note in notes_on(config) if note.startswith("after `cdk destroy`")]) == (removal == "retain") * 2


def test_the_end_of_standard_support_is_noted_for_every_supported_version() -> None:
    for version in versions():
        assert standard_support_end(version) == VERSIONS[version].standard_end.date()


@pytest.mark.parametrize(
    ("today", "note"),
    [
        ("2026-12-01", "after 2026-12-02, Kubernetes 1.34 is in extended support: "),
        ("2026-12-02", "after 2026-12-02, Kubernetes 1.34 is in extended support: "),
        ("2026-12-03", "standard support of Kubernetes 1.34 ended on 2026-12-02: "),
    ],
)
def test_a_support_that_ended_is_in_the_past(today: str, note: str) -> None:
    config = parse_cluster((EXAMPLES / "eks.yaml").read_bytes().replace(b'"1.35"', b'"1.34"'), "eks")
    assert isinstance(config, ClusterConfig)
    notes = [note for note in notes_on(config, date.fromisoformat(today)) if "0.60 USD" in note]
    assert notes == [f"{note}the control plane costs 0.60 USD per hour, not 0.10 USD"]
