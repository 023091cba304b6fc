"""A cluster as DescribeCluster shows it, in the words of the request that made it."""

from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from cli.errors import CommandError
from cli.import_cluster import Choices, Keep, Original, imported
from cli.import_cluster.live import read_live, request_of
from cli.resource_code import cluster_of
from cluster_request.request import RequestValues, cluster_request
from config.errors import ConfigError
from tests.unit.cli.import_cluster.originals import valid

Json = dict[str, Any]
ROLE = "arn:aws:iam::123456789012:role/theirs"
SCRIPTS = {"SourceS3Uri": "s3://sagemaker-theirs/src", "OnCreate": "on_create.sh"}
STATE = {"Status": "InService", "CurrentCount": 1, "TargetStateCount": 1, "SoftwareUpdateStatus": "Succeeded"}

HEAD: Json = {
    **STATE,
    "InstanceGroupName": "head",
    "InstanceType": "ml.c5.xlarge",
    "TargetCount": 1,
    "LifeCycleConfig": SCRIPTS,
    "ExecutionRole": ROLE,
    "ThreadsPerCore": 1,
    "CurrentImageId": "ami-0123456789abcdef0",
    "CurrentImageReleaseVersion": "1.2.3",
    "SlurmConfig": {"NodeType": "Controller"},
}
WORK: Json = {
    **HEAD,
    "InstanceGroupName": "work",
    "InstanceType": "ml.p5.48xlarge",
    "TargetCount": 4,
    "MinCount": 2,
    "InstanceTypeDetails": [{"InstanceType": "ml.p5.48xlarge", "CurrentCount": 1, "ThreadsPerCore": 1}],
    "TrainingPlanStatus": "Applied",
    "DesiredImageId": "ami-0fedcba9876543210",
    "AutoPatchConfig": {
        "PatchingStrategy": "WhenIdle",
        "DesiredPatchSchedule": {"NextPatchDate": datetime(2027, 1, 31, 12, tzinfo=UTC)},
        "CurrentPatchSchedule": {"NextPatchDate": datetime(2026, 1, 31, 12, tzinfo=UTC)},
    },
    "KubernetesConfig": {"CurrentLabels": {"team": "vision"}},
    "CapacityRequirements": {"OnDemand": {}},
    "SlurmConfig": {"NodeType": "Compute", "PartitionNames": ["dev"]},
}
RESTRICTED: Json = {
    "InstanceGroupName": "sealed",
    "InstanceType": "ml.p5.48xlarge",
    "TargetCount": 1,
    "ExecutionRole": ROLE,
    "EnvironmentConfig": {
        "FSxLustreConfig": {"SizeInGiB": 1200, "PerUnitStorageThroughput": 125},
        "S3OutputPath": "s3://sagemaker-out/",
    },
}
DESCRIPTION: Json = {
    "ClusterArn": "arn:aws:sagemaker:us-west-2:123456789012:cluster/abcdefghijkl",
    "ClusterName": "theirs",
    "ClusterStatus": "InService",
    "CreationTime": datetime(2026, 1, 1, tzinfo=UTC),
    "InstanceGroups": [HEAD, WORK],
    "RestrictedInstanceGroups": [RESTRICTED],
    "VpcConfig": {"SecurityGroupIds": ["sg-0123456789abcdef0"], "Subnets": ["subnet-0123456789abcdef0"]},
    "NodeRecovery": "Automatic",
    "AutoScaling": {"Mode": "Enable", "AutoScalerType": "Karpenter", "Status": "InService"},
}


def request(*groups: Json) -> Json:
    """The request of the cluster, or of one with these groups."""
    described = {**DESCRIPTION, **({"InstanceGroups": list(groups)} if groups else {})}
    return request_of(cluster_of(described, {"team": "vision"}, None))


def test_fields_that_describe_cluster_renames_have_their_requests_names() -> None:
    work = request()["InstanceGroups"][1]
    assert (work["InstanceCount"], work["MinInstanceCount"], work["ImageId"]) == (4, 2, "ami-0fedcba9876543210")
    assert work["KubernetesConfig"] == {"Labels": {"team": "vision"}}
    assert work["AutoPatchConfig"] == {
        "PatchingStrategy": "WhenIdle",
        "PatchSchedule": {"NextPatchDate": "2027-01-31T12:00:00+00:00"},
    }


def test_what_is_state_and_no_field_of_a_request_is_left_out() -> None:
    made = request()
    assert made.keys() == {
        *("ClusterName", "InstanceGroups", "RestrictedInstanceGroups", "VpcConfig", "NodeRecovery", "AutoScaling", "Tags")
    }
    assert made["AutoScaling"] == {"Mode": "Enable", "AutoScalerType": "Karpenter"}
    assert made["RestrictedInstanceGroups"][0]["EnvironmentConfig"] == {
        "FSxLustreConfig": {"SizeInGiB": 1200, "PerUnitStorageThroughput": 125}
    }
    assert made["InstanceGroups"][1].keys().isdisjoint({"Status", "CurrentCount", "InstanceTypeDetails", "TrainingPlanStatus"})


def test_what_the_service_has_brought_a_group_to_is_not_held() -> None:
    schedule = {"PatchingStrategy": "WhenIdle", "CurrentPatchSchedule": {"NextPatchDate": datetime(2027, 1, 1, tzinfo=UTC)}}
    head, work = request(HEAD, {**WORK, "AutoPatchConfig": schedule})["InstanceGroups"]
    assert head.keys().isdisjoint({"ImageId", "ImageReleaseVersion"})
    assert work["AutoPatchConfig"] == {"PatchingStrategy": "WhenIdle"}


class FakeAccount:
    """A session whose every client is the account itself, with the one cluster."""

    region_name: str | None = "us-west-2"

    def client(self, _: str) -> "FakeAccount":
        return self

    def describe_cluster(self, **_: str) -> Json:
        return DESCRIPTION

    def list_tags(self, **_: Any) -> Json:
        return {"Tags": [{"Key": "team", "Value": "vision"}]}

    def list_cluster_nodes(self, **_: Any) -> Json:
        return {"ClusterNodeSummaries": []}

    def describe_subnets(self, **asked: Any) -> Json:
        assert asked["SubnetIds"] == ["subnet-0123456789abcdef0"]
        [subnet] = asked["SubnetIds"]
        return {"Subnets": [{"SubnetId": subnet, "VpcId": "vpc-0123456789abcdef0", "AvailabilityZoneId": "usw2-az2"}]}

    def describe_vpcs(self, **_: Any) -> Json:
        return {"Vpcs": [{"CidrBlock": "10.4.0.0/16"}]}


def live(keep: Keep) -> tuple[Original, Choices]:
    return read_live("theirs", None, Choices(keep=keep), session=FakeAccount())


def test_groups_with_a_slurm_config_need_no_parameters_and_the_images_are_reported() -> None:
    original, choices = live(Keep.EVERYTHING)
    made = imported(original, choices)
    config = valid(made)
    assert original.parameters is None
    found = {**cluster_request(config, values=RequestValues.samples(config)), "ClusterName": config.cluster_name}
    assert found == original.request
    assert config.adopt
    assert "# Imported from cluster theirs." in made.text
    assert "# Not pinned: head has the image ami-0123456789abcdef0, 1.2.3 now." in made.text


def test_zone_and_network_are_those_of_the_subnets() -> None:
    _, choices = live(Keep.NETWORK)
    assert (choices.zone, choices.vpc_id, choices.vpc_cidr) == ("usw2-az2", "vpc-0123456789abcdef0", "10.4.0.0/16")
    assert not choices.adopt


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        (
            Choices(keep=Keep.NETWORK, zone="usw2-az4"),
            "--zone usw2-az4 contradicts subnet-0123456789abcdef0, which is in usw2-az2",
        ),
        (Choices(keep=Keep.EVERYTHING, vpc_id="vpc-11111111"), "--vpc vpc-11111111 contradicts subnet-.*, which is in vpc-0123"),
    ],
)
def test_an_option_that_contradicts_the_subnets_is_refused(choices: Choices, said: str) -> None:
    with pytest.raises(CommandError, match=f"{said}.*; remove --[a-z]+"):
        read_live("theirs", None, choices, session=FakeAccount())


def test_of_subnets_in_several_zones_the_clusters_first_is_the_files_and_the_others_are_noted() -> None:
    first, second = "subnet-0123456789abcdef0", "subnet-00000000000000001"

    class TwoZones(FakeAccount):
        def describe_cluster(self, **_: str) -> Json:
            return {**DESCRIPTION, "VpcConfig": {**DESCRIPTION["VpcConfig"], "Subnets": [first, second]}}

        def describe_subnets(self, **asked: Any) -> Json:
            zones = {second: "usw2-az1", first: "usw2-az2"}  # EC2's order is its own
            return {"Subnets": [{"SubnetId": each, "VpcId": "vpc-1", "AvailabilityZoneId": zones[each]} for each in zones]}

    original, choices = read_live("theirs", None, Choices(keep=Keep.NETWORK), session=TwoZones())
    assert choices.zone == "usw2-az2"
    assert f"The subnets are in several zones ({first} in usw2-az2, {second} in usw2-az1)" in original.notes[-1]


def test_stored_parameters_that_are_no_object_are_refused() -> None:
    class Stored(FakeAccount):
        def describe_cluster(self, **_: str) -> Json:
            return {**DESCRIPTION, "InstanceGroups": [{key: HEAD[key] for key in HEAD if key != "SlurmConfig"}]}

        def get_object(self, **_: str) -> Json:
            return {"Body": BytesIO(b'["no object"]')}

    with pytest.raises(CommandError, match=r"s3://sagemaker-theirs/src/provisioning_parameters\.json is not a JSON object; pass"):
        read_live("theirs", None, Choices(keep=Keep.EVERYTHING), session=Stored())


def test_a_response_that_sagemaker_never_gives_is_reported_as_such() -> None:
    class Portal(FakeAccount):
        def describe_cluster(self, **_: str) -> Json:
            return {"ResponseMetadata": {"HTTPStatusCode": 200}}

    with pytest.raises(CommandError, match="cannot describe cluster theirs: the endpoint that answers is not AWS; "):
        read_live("theirs", None, Choices(keep=Keep.EVERYTHING), session=Portal())


def test_a_new_network_is_in_the_clusters_zone() -> None:
    _, choices = live(Keep.NOTHING)
    assert (choices.zone, choices.vpc_id, choices.adopt) == ("usw2-az2", None, False)


@pytest.mark.parametrize("name", ["bad name", "-x", "x" * 64, ""])
def test_what_can_be_no_clusters_name_is_not_asked_for(name: str) -> None:
    class Silent(FakeAccount):
        def describe_cluster(self, **_: str) -> Json:
            raise AssertionError("was asked")

    with pytest.raises(CommandError, match="is not a cluster name or ARN; `aws sagemaker list-clusters` lists them"):
        read_live(name, None, Choices(keep=Keep.EVERYTHING), session=Silent())


def test_a_new_network_can_be_in_another_zone() -> None:
    _, choices = read_live("theirs", None, Choices(keep=Keep.NOTHING, zone="usw2-az4"), session=FakeAccount())
    assert choices.zone == "usw2-az4"


def test_what_is_wrong_with_parameters_beside_a_cluster_that_runs_has_its_place(tmp_path: Path) -> None:
    file = tmp_path / "parameters.json"
    file.write_text('{"controller_group": "head",\n "workload_manager": "pbs"}')
    original, choices = read_live("theirs", file, Choices(keep=Keep.EVERYTHING), session=FakeAccount())
    with pytest.raises(ConfigError, match=r"parameters\.json:2:2: workload_manager: "):
        imported(original, choices)
    file.write_text('{"InstanceGroups": []}')
    with pytest.raises(ConfigError, match="this is CreateCluster's input; pass it first"):
        read_live("theirs", file, Choices(keep=Keep.EVERYTHING), session=FakeAccount())


def test_a_region_that_nothing_says_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FakeAccount, "region_name", None)
    with pytest.raises(CommandError, match="no region for cluster theirs; pass --region"):
        live(Keep.EVERYTHING)
