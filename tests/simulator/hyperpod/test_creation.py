import json
from typing import Any, TypeAlias

import pytest
from botocore.exceptions import ClientError

from local_aws import faults
from local_aws.hyperpod import capacity, quotas
from tests.simulator.hyperpod.world import Hold, World

pytestmark = pytest.mark.local
Part: TypeAlias = dict[str, Any]

LUSTRE = "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com"


def raw(world: World, request: dict[str, Any]) -> None:
    """Send a request that boto3 itself would not let through."""
    client = world.client("sagemaker")

    def replace(params: dict[str, Any], **_: object) -> None:
        params["body"] = json.dumps(request).encode()

    client.meta.events.register("before-call.sagemaker.CreateCluster", replace)
    client.create_cluster(ClusterName="x")


def test_a_request_off_the_model_is_refused_with_path_value_and_constraint(world: World) -> None:
    groups = [world.group("a"), world.group("b"), world.group("c", InstanceType="ml.none.xlarge")]
    with pytest.raises(ClientError) as error:
        world.create(*groups)
    text = error.value.response["Error"]["Message"]
    assert error.value.response["Error"]["Code"] == "ValidationException"
    assert text.startswith(
        "1 validation error detected: Value 'ml.none.xlarge' at 'instanceGroups.3.member.instanceType' failed to satisfy "
        "constraint: Member must satisfy enum value set: [ml.p4d.24xlarge"
    )


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"ClusterName": None}, "Value null at 'clusterName' failed to satisfy constraint: Member must not be null"),
        (
            {"ClusterName": "a_b"},
            "Value 'a_b' at 'clusterName' failed to satisfy constraint: Member must satisfy regular",
        ),
        ({"ClusterName": "a" * 64}, "Member must have length less than or equal to 63"),
        ({"ClusterName": 7}, "Member must be of type string"),
        ({"Colour": "red"}, "Value 'red' at 'colour'"),
        ({"Tags": [{"Key": "emoji \U0001f680", "Value": ""}]}, "at 'tags.1.member.key'"),
        ({"InstanceGroups": []}, "Member must have length greater than or equal to 1"),
    ],
)
def test_every_kind_of_mistake_is_seen(world: World, change: dict[str, Any], complaint: str) -> None:
    request = {"ClusterName": "ml", "InstanceGroups": [world.group("a")], **change}
    with pytest.raises(ClientError) as error:
        raw(world, {key: value for key, value in request.items() if value is not None})
    assert complaint in error.value.response["Error"]["Message"]


def test_letters_of_all_scripts_are_good_in_tags(world: World) -> None:
    assert world.create(world.group("a"), Tags=[{"Key": "Größe", "Value": "大"}])


@pytest.mark.parametrize(
    ("group", "settings", "complaint"),
    [
        ({"InstanceType": None}, {}, "either InstanceType or InstanceRequirements"),
        ({"InstanceCount": 1, "MinInstanceCount": 2}, {}, "at most InstanceCount"),
        (
            {"SlurmConfig": {"NodeType": "Compute", "PartitionNames": ["dev"]}},
            {},
            "exactly one group must have NodeType",
        ),
        ({"SlurmConfig": {"NodeType": "Controller", "PartitionNames": ["dev"]}}, {}, "only they, must have PartitionNames"),
        ({}, {"NodeProvisioningMode": "Continuous"}, "has no InstanceGroup with SlurmConfig which is required"),
        ({"ExecutionRole": "arn:aws:iam::123456789012:role/none"}, {}, "cannot assume the execution role"),
        ({"LifeCycleConfig": None}, {}, "LifeCycleConfig is required for instance group a"),
        ({"LifeCycleConfig": {}}, {}, "LifeCycleConfig for instance group is provided but contains no configuration"),
        (
            {"LifeCycleConfig": {"SourceS3Uri": "s3://sagemaker-scripts/1"}},
            {},
            "LifeCycleConfig for instance group is provided but contains no configuration",
        ),
        ({"LifeCycleConfig": {"OnCreate": "on_create.sh"}}, {}, "LifeCycleConfig for instance group is incomplete"),
        ({"LifeCycleConfig": {"OnInitComplete": "extend.sh"}}, {}, "LifeCycleConfig for instance group is incomplete"),
        (
            {"LifeCycleConfig": {"SourceS3Uri": "s3://sagemaker-scripts/1", "OnCreate": "a.sh", "OnInitComplete": "b.sh"}},
            {},
            "OnCreate and OnInitComplete in LifeCycleConfig are mutually exclusive",
        ),
        (
            {"InstanceStorageConfigs": [{"FsxLustreConfig": {"DnsName": LUSTRE, "MountName": "abcdefgh"}}]},
            {"VpcConfig": None},
            "FSx configurations are only supported for Custom VPC",
        ),
        (
            {"SlurmConfig": {"NodeType": "Controller"}},
            {"NodeProvisioningMode": "Continuous", "Orchestrator": {"Slurm": {"SlurmConfigStrategy": "Managed"}}},
            "SlurmConfigStrategy cannot be set with NodeProvisioningMode Continuous",
        ),
        ({}, {"VpcConfig": {"Subnets": ["subnet-0none"], "SecurityGroupIds": ["sg-0none"]}}, "subnet-0none' does not exist"),
    ],
)
def test_a_request_that_makes_no_sense_is_refused(
    world: World, group: dict[str, Any], settings: dict[str, Any], complaint: str
) -> None:
    spec = {key: value for key, value in world.group("a", **group).items() if value is not None}
    asked = {"VpcConfig": world.vpc(), **settings}
    request = {"ClusterName": "ml", "InstanceGroups": [spec], **{key: value for key, value in asked.items() if value is not None}}
    with pytest.raises(ClientError, match=complaint):
        world.sagemaker.create_cluster(**request)
    assert world.sagemaker.list_clusters()["ClusterSummaries"] == []


def test_a_cluster_that_hyperpod_sets_up_needs_no_scripts(world: World) -> None:
    without = {name: value for name, value in world.group("a").items() if name != "LifeCycleConfig"}
    assert world.create({**without, "SlurmConfig": {"NodeType": "Controller"}})


def test_groups_of_one_name_are_refused(world: World) -> None:
    with pytest.raises(ClientError, match=r"must be unique, got \['a'\] more than once"):
        world.create(world.group("a"), world.group("a"))


def test_a_security_group_of_another_vpc_is_refused(world: World) -> None:
    vpc = world.ec2.create_vpc(CidrBlock="10.9.0.0/16")["Vpc"]["VpcId"]
    far = world.ec2.create_security_group(VpcId=vpc, GroupName="far", Description="far")["GroupId"]
    with pytest.raises(ClientError, match="must be of one VPC"):
        world.create(world.group("a"), VpcConfig={**world.vpc(), "SecurityGroupIds": [far]})


def test_a_group_in_another_vpc_than_the_clusters_is_refused(world: World) -> None:
    vpc = world.ec2.create_vpc(CidrBlock="10.9.0.0/16")["Vpc"]["VpcId"]
    far = world.ec2.create_security_group(VpcId=vpc, GroupName="far", Description="far")["GroupId"]
    subnet = world.ec2.create_subnet(VpcId=vpc, CidrBlock="10.9.0.0/24")["Subnet"]["SubnetId"]
    own = {"SecurityGroupIds": [far], "Subnets": [subnet]}
    with pytest.raises(ClientError, match="must be of one VPC"):
        world.create(world.group("a"), world.group("b", OverrideVpcConfig=own))
    world.in_service(world.group("a"), world.group("b", OverrideVpcConfig=world.vpc()))
    with pytest.raises(ClientError, match="must be of one VPC"):
        world.sagemaker.update_cluster(ClusterName="ml", InstanceGroups=[world.group("c", OverrideVpcConfig=own)])


def test_a_second_cluster_of_the_name_is_refused_as_in_use(world: World) -> None:
    world.create(world.group("a"))
    with pytest.raises(ClientError, match=r"ResourceInUse.*already exists"):
        world.create(world.group("a"))


def test_a_trust_policy_that_asks_for_the_source_account_does_not_hold(world: World) -> None:
    condition = {"StringEquals": {"aws:SourceAccount": "123456789012"}}
    trust = {"Effect": "Allow", "Principal": {"Service": "sagemaker.amazonaws.com"}, "Action": "sts:AssumeRole"}
    document = json.dumps({"Version": "2012-10-17", "Statement": [{**trust, "Condition": condition}]})
    iam = world.client("iam")
    role = iam.create_role(RoleName="picky", AssumeRolePolicyDocument=document)["Role"]["Arn"]
    with pytest.raises(ClientError, match="cannot assume the execution role"):
        world.create(world.group("a", ExecutionRole=role))
    iam.delete_role(RoleName="picky")


def test_a_quota_refuses_and_says_what_it_is_what_is_used_and_what_was_asked(world: World) -> None:
    quotas.limit({"ml.trn1.32xlarge for cluster usage": 0})
    with pytest.raises(ClientError) as error:
        world.create(world.group("controller"), world.group("workers", 4, InstanceType="ml.trn1.32xlarge"))
    assert error.value.response["Error"]["Code"] == "ResourceLimitExceeded"
    assert error.value.response["Error"]["Message"].startswith(
        "The account-level service limit 'ml.trn1.32xlarge for cluster usage' is 0 Instances, with current utilization of 0 "
        "Instances and a request delta of 4 Instances."
    )


def test_describe_renames_what_the_request_says(world: World) -> None:
    group = world.group("workers", 2, MinInstanceCount=1, ImageId="ami-0123456789abcdef0")
    described = world.in_service(group, Tags=[{"Key": "a", "Value": "b"}], NodeRecovery="Automatic")
    seen = described["InstanceGroups"][0]
    assert (seen["TargetCount"], seen["CurrentCount"], seen["MinCount"]) == (2, 2, 1)
    assert seen["CurrentImageId"] == "ami-0123456789abcdef0"
    assert seen["Status"] == "InService"
    assert not {"InstanceCount", "MinInstanceCount", "ImageId"} & set(seen)
    assert described["NodeRecovery"] == "Automatic"
    assert "Tags" not in described
    assert seen["LifeCycleConfig"] == group["LifeCycleConfig"]


def test_a_cluster_is_found_by_its_arn_too(world: World) -> None:
    arn = world.create(world.group("a"))
    assert world.sagemaker.describe_cluster(ClusterName=arn)["ClusterName"] == "ml"


def test_nodes_come_up_one_after_the_other_through_pending(world: World, hold: Hold) -> None:
    hold("hyperpod.node.boot")
    world.create(world.group("a", 2))
    nodes = world.until(world.nodes, lambda nodes: len(nodes) == 2)
    assert {node["InstanceStatus"]["Status"] for node in nodes} == {"Pending"}
    assert world.cluster()["InstanceGroups"][0]["CurrentCount"] == 0
    assert world.cluster()["InstanceGroups"][0]["Status"] == "Creating"


def test_deep_health_checks_keep_the_cluster_creating(world: World, hold: Hold) -> None:
    hold("hyperpod.node.deep_health_check")
    world.create(world.group("controller"), world.group("workers", OnStartDeepHealthChecks=["InstanceStress"]))

    def states() -> dict[str, str]:
        return {node["InstanceGroupName"]: node["InstanceStatus"]["Status"] for node in world.nodes()}

    world.until(states, lambda seen: seen == {"controller": "Running", "workers": "DeepHealthCheckInProgress"})
    assert world.cluster()["ClusterStatus"] == "Creating"


def test_a_capacity_failure_rolls_back_to_failed_and_keeps_the_message(world: World, hold: Hold) -> None:
    hold("hyperpod.roll_back")
    text = "We currently do not have sufficient capacity to launch new ml.c5.xlarge instances. Please try again."
    faults.order(faults.Fault("sagemaker:CreateCluster", kind="fail", message=text))
    world.create(world.group("a"))
    assert world.until_status("RollingBack")["FailureMessage"] == text


def test_a_cluster_without_partial_capacity_needs_capacity_for_all_its_nodes(world: World) -> None:
    capacity.limit({"ml.c5.xlarge": 2})
    seen = world.in_service(world.group("a", 2), world.group("b"))
    assert seen["ClusterStatus"] == "Failed"
    assert "do not have sufficient capacity to launch new ml.c5.xlarge instances" in seen["FailureMessage"]
    assert world.interfaces() == []


def test_a_cluster_that_failed_cannot_be_updated_but_deleted(world: World) -> None:
    faults.order(faults.Fault("sagemaker:CreateCluster", kind="fail", message="no capacity"))
    assert world.in_service(world.group("a"))["ClusterStatus"] == "Failed"
    with pytest.raises(ClientError, match="delete and create it again"):
        world.sagemaker.update_cluster(ClusterName="ml", InstanceGroups=[world.group("a", 2)])
    world.sagemaker.delete_cluster(ClusterName="ml")
    world.until_gone()


def test_a_refusal_that_was_ordered_happens_as_often_as_ordered(world: World) -> None:
    faults.order(faults.Fault("sagemaker:ListClusters", code="ThrottlingException", message="Rate exceeded", times=2))
    client = world.client("sagemaker", retries=0)
    for _ in range(2):
        with pytest.raises(ClientError, match="ThrottlingException"):
            client.list_clusters()
    assert client.list_clusters()["ClusterSummaries"] == []


def test_a_reply_that_gets_lost_leaves_the_cluster_behind(world: World) -> None:
    faults.order(faults.Fault("sagemaker:CreateCluster", kind="lose"))
    with pytest.raises(ClientError, match="ResourceInUse"):  # boto3 tries again after the cut connection
        world.create(world.group("a"))
    assert world.cluster()["ClusterName"] == "ml"


def test_clusters_are_listed_by_name_and_in_pages(world: World) -> None:
    for name in ("b-two", "a-one", "c-three"):
        world.create(world.group("a"), name=name)
    listed = world.sagemaker.list_clusters(NameContains="e", SortBy="NAME", SortOrder="Descending")["ClusterSummaries"]
    assert [cluster["ClusterName"] for cluster in listed] == ["c-three", "a-one"]
    pages = list(world.sagemaker.get_paginator("list_clusters").paginate(PaginationConfig={"PageSize": 2}))
    assert [len(page["ClusterSummaries"]) for page in pages] == [2, 1]


def test_more_than_a_hundred_nodes_come_in_pages(world: World) -> None:
    world.in_service(world.group("a", 120))
    pages = list(world.sagemaker.get_paginator("list_cluster_nodes").paginate(ClusterName="ml"))
    assert [len(page["ClusterNodeSummaries"]) for page in pages] == [100, 20]
    assert len({node["InstanceId"] for page in pages for node in page["ClusterNodeSummaries"]}) == 120
