"""What `hpod adopt` shows is what the custom resource decides, and only `--release` changes anything."""

from typing import Any, cast

import pytest
from botocore.exceptions import ClientError

from cli import adopt as adopt_command
from cli.deployment import Deployment
from cli.errors import CommandError
from config.model import ClusterConfig
from tests.unit.cluster_resource.fake_cluster import FakeCluster
from tests.unit.cluster_resource.fake_sagemaker import FakeSageMaker
from tests.unit.cluster_resource.manual_clock import ManualClock
from validation.load import parse_cluster

Json = dict[str, Any]
ROLE = "arn:aws:iam::123456789012:role/theirs"
SUBNET, GROUP = "subnet-0123456789abcdef0", "sg-0123456789abcdef0"
SCRIPTS = {"SourceS3Uri": "s3://sagemaker-theirs/src", "OnCreate": "on_create.sh"}
OLD_STACK = "arn:aws:cloudformation:us-west-2:123456789012:stack/old-Cluster/5a7d3b10"
NOT_YET = ""
OWN_STACK = OLD_STACK.replace("old-", "draft-")
FILE_TAG = {"hyperpod-cdk:cluster": "draft"}
OWNER = {"hyperpod-cdk:stack-id": OLD_STACK, "hyperpod-cdk:logical-id": "ClusterEB0386A7", "hyperpod-cdk:version": "1"}
FILE = f"""
region: us-west-2
cluster_name: theirs
slurm: {{setup: scripts}}
network:
  availability_zone_id: usw2-az4
  existing: {{vpc_id: vpc-0123456789abcdef0, node_subnet_ids: [{SUBNET}], security_group_id: {GROUP}}}
instance_groups:
  - name: head
    role: controller
    instance_type: ml.c5.xlarge
    instance_count: 1
    overrides: {{ExecutionRole: "{ROLE}", LifeCycleConfig: {{SourceS3Uri: "s3://sagemaker-theirs/src"}}}}
  - name: work
    role: compute
    partition: dev
    instance_type: ml.p5.48xlarge
    instance_count: 4
    overrides: {{ExecutionRole: "{ROLE}", LifeCycleConfig: {{SourceS3Uri: "s3://sagemaker-theirs/src"}}}}
"""


class FakeAccount:
    """SageMaker with one cluster, and CloudFormation with at most one stack."""

    region_name = "us-west-2"

    def __init__(self, tags: dict[str, str] | None = None) -> None:
        clock = ManualClock()
        self.sagemaker = FakeSageMaker(clock)
        groups = [_group("head", "ml.c5.xlarge", 1), _group("work", "ml.p5.48xlarge", 4)]
        vpc = {"SecurityGroupIds": [GROUP], "Subnets": [SUBNET]}
        listed = [{"Key": key, "Value": value} for key, value in (tags or {}).items()]
        self.sagemaker.create_cluster(ClusterName="theirs", InstanceGroups=groups, VpcConfig=vpc, Tags=listed)
        clock.now = clock.after(700)
        self.cluster = cast("FakeCluster", self.sagemaker.find("theirs"))
        self.sagemaker.calls.clear()
        self.stack: Json | None = None
        self.own: list[Json] = []

    def client(self, service: str) -> Any:
        return self.sagemaker if service == "sagemaker" else self

    def describe_stacks(self, **asked: str) -> Json:
        if asked["StackName"] == "draft-Cluster" and self.own:
            return {"Stacks": [{"StackName": "draft-Cluster", "StackStatus": "UPDATE_COMPLETE"}]}
        if asked["StackName"] == OLD_STACK and self.stack:
            return {"Stacks": [{"StackName": "old-Cluster", "StackStatus": self.stack["status"]}]}
        raise ClientError({"Error": {"Code": "ValidationError", "Message": "Stack does not exist"}}, "DescribeStacks")

    def describe_stack_resources(self, **_: str) -> Json:
        return {"StackResources": self.own}

    def describe_stack_resource(self, **_: str) -> Json:
        assert self.stack
        known = {"PhysicalResourceId": self.stack.get("id", "theirs")} if self.stack.get("id") != NOT_YET else {}
        return {"StackResourceDetail": {"ResourceStatus": self.stack["resource"], **known}}


def _group(name: str, kind: str, count: int) -> Json:
    named = {"InstanceGroupName": name, "InstanceType": kind, "InstanceCount": count}
    return {**named, "LifeCycleConfig": SCRIPTS, "ExecutionRole": ROLE, "ThreadsPerCore": 1}


def deployment(account: FakeAccount, *changes: tuple[str, str]) -> Deployment:
    text = FILE
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    config = parse_cluster(text.encode(), "draft")
    assert isinstance(config, ClusterConfig), config
    return Deployment(config, session=cast("Any", account))


def adopt(deployment: Deployment, *, release: bool = False) -> str:
    """What the command prints."""
    return str(adopt_command.adopt(deployment, release=release))


def owned(kind: str, name: str, status: str = "CREATE_COMPLETE") -> Json:
    """The cluster's resource in the file's own stack."""
    named = {"StackId": OWN_STACK, "LogicalResourceId": "ClusterEB0386A7", "PhysicalResourceId": name}
    return {**named, "ResourceType": kind, "ResourceStatus": status}


def test_a_cluster_that_is_as_the_file_says_would_only_be_taken_over() -> None:
    account = FakeAccount(FILE_TAG)
    text = adopt(deployment(account))
    assert "theirs is InService and has no owner" in text
    assert "set `adopt: true`, and `cdk deploy 'draft/*'` would adopt it and change nothing else" in text
    assert not account.sagemaker.changes()


def test_tags_that_would_be_added_are_reported_with_the_values_that_are_lost() -> None:
    account = FakeAccount({"team": "vision", "cost": "7"})
    text = adopt(deployment(account, ("instance_groups:", "tags: {team: language, cost: '7'}\ninstance_groups:")))
    assert "tags to add:\n  hyperpod-cdk:cluster: draft\n  team: vision -> language\n" in text
    assert text.endswith("would adopt it and add these tags and change nothing else")


def test_the_report_on_a_cluster_that_the_stack_owns_already() -> None:
    account = FakeAccount({**FILE_TAG, **OWNER, "hyperpod-cdk:stack-id": OWN_STACK})
    account.own = [owned("Custom::HyperPodCluster", "theirs")]
    assert adopt(deployment(account)).endswith("the stack already owns it")
    text = adopt(deployment(account, ("instance_groups:", "tags: {team: language}\ninstance_groups:")))
    assert text.endswith("the stack already owns it; a deployment would add these tags")


def test_a_cluster_that_is_the_stacks_may_shrink() -> None:
    account = FakeAccount({**FILE_TAG, **OWNER, "hyperpod-cdk:stack-id": OWN_STACK})
    account.own = [owned("Custom::HyperPodCluster", "theirs")]
    text = adopt(deployment(account, ("instance_count: 4", "instance_count: 2")))
    assert "work.InstanceCount: 4 -> 2" in text
    assert text.endswith("the stack already owns it; a deployment would make these changes")


def test_a_cluster_that_its_own_stack_released_is_not_called_foreign() -> None:
    account = FakeAccount({**FILE_TAG, **OWNER, "hyperpod-cdk:stack-id": OWN_STACK})
    account.own = [owned("AWS::IAM::Policy", "p"), owned("Custom::HyperPodCluster", "theirs", "DELETE_SKIPPED")]
    assert "would fail" not in adopt(deployment(account))
    text = adopt(deployment(account, ("instance_count: 4", "instance_count: 2")))
    assert "a deployment would fail: cluster theirs cannot be adopted" in text


@pytest.mark.parametrize(
    ("kind", "name", "why"),
    [
        ("Custom::HyperPodCluster", "before", "already owns cluster before, and an update adopts no other cluster"),
        ("Custom::HyperPodCluster", "theirs", "an update does not restore its lost ownership tags"),
    ],
)
def test_where_the_stack_has_a_cluster_an_adoption_is_reported_to_fail(kind: str, name: str, why: str) -> None:
    account = FakeAccount()
    account.own = [owned(kind, name)]
    text = adopt(deployment(account))
    assert "a deployment would fail: its stack already owns cluster" in text
    assert why in text
    assert "deploy `removal: retain`, run `cdk destroy`, and adopt it with another file" in text
    assert "tags that would be put on" not in text


@pytest.mark.parametrize("status", ["DELETE_COMPLETE", "DELETE_SKIPPED", "CREATE_FAILED"])
def test_a_resource_that_is_to_be_made_is_no_obstacle(status: str) -> None:
    account = FakeAccount()
    account.own = [owned("Custom::HyperPodCluster", "before", status)]
    assert "would adopt it" in adopt(deployment(account))


def test_changes_are_reported_with_both_values() -> None:
    text = adopt(deployment(FakeAccount(), ("instance_count: 4", "instance_count: 6")))
    assert "work.InstanceCount: 4 -> 6" in text
    assert "would adopt it and then make these changes" in text


def test_what_no_update_can_change_is_reported_as_by_the_deployment() -> None:
    text = adopt(deployment(FakeAccount(), ("ml.p5.48xlarge", "ml.g5.8xlarge"), ("instance_count: 4", "instance_count: 2")))
    assert "a deployment would fail" in text
    assert "work.InstanceType is 'ml.p5.48xlarge', the file has 'ml.g5.8xlarge'" in text
    assert "work.InstanceCount is 4, the file has 2" in text


def test_a_role_that_the_deployment_would_create_is_reported_as_different() -> None:
    text = adopt(deployment(FakeAccount(), (f'ExecutionRole: "{ROLE}", ', "")))
    assert f"head.ExecutionRole is '{ROLE}', the file has '(created by the deployment)'" in text


def test_groups_created_by_hand_are_reported_to_stay() -> None:
    account = FakeAccount()
    account.cluster.groups["by-hand"] = {**_group("by-hand", "ml.c5.xlarge", 1), "kind": "InstanceGroups"}
    assert "stay unchanged: by-hand" in adopt(deployment(account))


def test_a_file_without_a_name_and_a_name_without_a_cluster_are_reported() -> None:
    with pytest.raises(CommandError, match="cluster_name: missing; set it"):
        adopt(deployment(FakeAccount(), ("cluster_name: theirs\n", "")))
    with pytest.raises(CommandError, match="no cluster another in us-west-2"):
        adopt(deployment(FakeAccount(), ("cluster_name: theirs", "cluster_name: another")))


@pytest.mark.fault(47)
@pytest.mark.parametrize(
    "stack", [None, {"status": "DELETE_COMPLETE"}, {"status": "UPDATE_COMPLETE", "resource": "DELETE_SKIPPED"}]
)
def test_a_retained_cluster_is_released_once_no_stack_has_it(stack: Json | None) -> None:
    account = FakeAccount({**OWNER, "team": "vision"})
    account.stack = stack
    assert "old-Cluster" in adopt(deployment(account))
    assert "released cluster theirs" in adopt(deployment(account), release=True)
    assert account.cluster.tags == {"team": "vision"}
    assert "would adopt it" in adopt(deployment(account))


@pytest.mark.fault(55)
def test_a_cluster_that_a_stack_has_is_not_released() -> None:
    account = FakeAccount(OWNER)
    account.stack = {"status": "UPDATE_COMPLETE", "resource": "CREATE_COMPLETE"}
    with pytest.raises(CommandError, match="old-Cluster \\(UPDATE_COMPLETE\\)"):
        adopt(deployment(account), release=True)
    assert account.cluster.tags == OWNER


@pytest.mark.fault(55)
@pytest.mark.parametrize(
    "stack",
    [
        {"status": "CREATE_IN_PROGRESS", "resource": "CREATE_IN_PROGRESS", "id": NOT_YET},
        {"status": "UPDATE_IN_PROGRESS", "resource": "UPDATE_IN_PROGRESS", "id": "the-one-before"},
        {"status": "UPDATE_ROLLBACK_IN_PROGRESS", "resource": "UPDATE_COMPLETE", "id": "the-one-before"},
    ],
)
def test_a_cluster_that_a_stack_is_making_is_not_released(stack: Json) -> None:
    account = FakeAccount(OWNER)
    account.stack = stack
    with pytest.raises(CommandError, match="which is busy; nothing was changed; wait until"):
        adopt(deployment(account), release=True)
    assert account.cluster.tags == OWNER


def test_a_cluster_of_a_resource_whose_cluster_is_not_known_is_not_released() -> None:
    account = FakeAccount(OWNER)
    account.stack = {"status": "CREATE_FAILED", "resource": "CREATE_FAILED", "id": NOT_YET}
    with pytest.raises(CommandError, match="release it from that stack first"):
        adopt(deployment(account), release=True)


def test_a_cluster_that_its_stack_has_replaced_is_released() -> None:
    account = FakeAccount(OWNER)
    account.stack = {"status": "UPDATE_COMPLETE", "resource": "UPDATE_COMPLETE", "id": "the-one-after"}
    assert "released cluster theirs" in adopt(deployment(account), release=True)


def test_a_cluster_of_a_stack_that_cannot_be_looked_at_is_not_released() -> None:
    account = FakeAccount({**OWNER, "hyperpod-cdk:stack-id": OLD_STACK.replace("us-west-2", "us-east-1")})
    with pytest.raises(CommandError, match="in another region"):
        adopt(deployment(account), release=True)


def test_nothing_is_released_that_has_no_owner() -> None:
    account = FakeAccount()
    assert "nothing to release" in adopt(deployment(account), release=True)
    assert not account.sagemaker.changes()
