"""`hpod drift` compares the file with the cluster and its nodes, and says what a deployment would do."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import pytest
from botocore.exceptions import ClientError

from cli.drift.command import drift
from cli.result import Json, Result
from tests.unit.cli.fake_operations import NEW, NOW, OLD
from tests.unit.cli.test_adopt import FILE_TAG, OWN_STACK, OWNER, FakeAccount, deployment, owned

KEPT = "a deployment keeps it: the file did not change the count since the last deployment"


@dataclass(frozen=True)
class Paginator:
    """A paginator of one operation."""

    account: "DriftAccount"
    operation: str

    def paginate(self, **asked: Any) -> Iterator[Json]:
        if self.operation == "list_cluster_nodes":
            yield self.account.sagemaker.list_cluster_nodes(**asked)
        else:
            yield {"events": self.account.reports}


class SageMaker:
    """The client of SageMaker, with a paginator."""

    def __init__(self, account: "DriftAccount") -> None:
        self._account = account

    def __getattr__(self, name: str) -> Any:
        return getattr(self._account.sagemaker, name)

    def get_paginator(self, operation: str) -> Paginator:
        return Paginator(self._account, operation)


class DriftAccount(FakeAccount):
    """The cluster of the file, deployed by its own stack."""

    def __init__(self) -> None:
        super().__init__({**FILE_TAG, **OWNER, "hyperpod-cdk:stack-id": OWN_STACK})
        self.own = [owned("Custom::HyperPodCluster", "theirs")]
        self.deployed = {"head": 1, "work": 4}
        self.removed: Json = {}  # members of workers that only the template has
        self.reports: list[Json] = []

    def client(self, service: str) -> Any:
        return SageMaker(self) if service == "sagemaker" else self

    def describe_stacks(self, **asked: str) -> Json:
        if asked["StackName"] != "draft-Cluster":
            raise ClientError({"Error": {"Code": "ValidationError", "Message": "Stack does not exist"}}, "DescribeStacks")
        outputs = [{"OutputKey": "ClusterName", "OutputValue": "theirs", "Description": "name"}]
        return {"Stacks": [{"StackName": "draft-Cluster", "StackStatus": "UPDATE_COMPLETE", "Outputs": outputs}]}

    def get_template(self, **_: str) -> Json:
        groups = [{"InstanceGroupName": name, "InstanceCount": count} for name, count in self.deployed.items()]
        groups[1] |= {**self.removed, "ExecutionRole": {"Fn::GetAtt": ["NodeRole", "Arn"]}}
        cluster = {"Type": "Custom::HyperPodCluster", "Properties": {"Request": {"InstanceGroups": groups}}}
        return {"TemplateBody": json.dumps({"Resources": {"Cluster": cluster}})}

    def get_paginator(self, operation: str) -> Paginator:
        return Paginator(self, operation)

    def get_parameter(self, **_: str) -> Json:
        return {"Parameter": {"Value": json.dumps({"sha256": NEW})}}

    def report(self, instance: str, sha256: str) -> None:
        line = json.dumps({"record": "state", "instance": instance, "sha256": sha256})
        now = int(NOW.timestamp() * 1000)
        self.reports.append({"logStreamName": f"work/{instance}", "timestamp": now, "ingestionTime": now, "message": line})

    def update(self, **changes: Any) -> None:
        """Change the cluster outside the deployment."""
        self.cluster.groups["work"] |= changes


@pytest.fixture
def account() -> DriftAccount:
    return DriftAccount()


def compared(account: DriftAccount, *changes: tuple[str, str], exit_code: bool = False) -> Result:
    return drift(deployment(cast("FakeAccount", account), *changes), exit_code=exit_code, now=NOW)


def differences(account: DriftAccount, *changes: tuple[str, str]) -> list[tuple[str, str, str | None, str | None, str]]:
    data = compared(account, *changes).data
    assert data
    return [tuple(each.values()) for each in data["differences"]]


def test_a_cluster_as_the_file_has_it_does_not_differ(account: DriftAccount) -> None:
    result = compared(account, exit_code=True)
    assert differences(account) == []
    assert "no differences between the file, cluster theirs and its nodes\n5 of 5 nodes have no agent" in str(result)
    assert (result.failure, result.data["in_sync"]) == ("", True)  # type: ignore[index]


def test_a_count_that_someone_scaled_is_kept_and_one_that_the_file_changed_is_set(account: DriftAccount) -> None:
    account.update(InstanceCount=6)
    account.cluster.running["work"] = 6
    assert differences(account) == [("group work", "InstanceCount", "4", "6", KEPT)]
    account.deployed["work"] = 6
    [(*where, action)] = differences(account)
    assert where == ["group work", "InstanceCount", "4", "6"]
    assert action == "a deployment sets it with UpdateCluster"


def test_a_setting_is_compared_with_both_values(account: DriftAccount) -> None:
    account.cluster.settings["NodeRecovery"] = "None"
    change = ("instance_groups:", "node_recovery: Automatic\ninstance_groups:")
    assert differences(account, change) == [
        ("cluster", "NodeRecovery", "Automatic", "None", "a deployment sets it with UpdateCluster")
    ]


def test_what_the_api_cannot_change_is_announced_as_a_failure(account: DriftAccount) -> None:
    account.update(InstanceType="ml.g5.8xlarge")
    [(place, field, file, actual, action)] = differences(account)
    assert (place, field, file, actual) == ("group work", "InstanceType", "ml.p5.48xlarge", "ml.g5.8xlarge")
    assert action.startswith("a deployment fails: the API cannot change it")


def test_another_image_is_announced_with_the_command_that_changes_it(account: DriftAccount) -> None:
    account.update(ImageId="ami-0aaaaaaaaaaaaaaaa")
    [(_, field, _, _, action)] = differences(account, ("ml.p5.48xlarge", "ml.p5.48xlarge\n    image_id: ami-0123456789abcdef0"))
    assert field == "ImageId"
    assert "first run `aws sagemaker update-cluster-software`" in action


def test_members_that_the_file_removed_are_shown_with_what_happens_to_them(account: DriftAccount) -> None:
    volume = [{"EbsVolumeConfig": {"VolumeSizeInGB": 500}}]
    account.removed = {"InstanceStorageConfigs": volume, "MinInstanceCount": 2}
    account.sagemaker.all[0].groups["work"] |= account.removed
    shown = {field: (actual, action) for _, field, _, actual, action in differences(account)}
    assert shown["MinInstanceCount"] == (
        "2",
        "a deployment fails: the API cannot change it; rename the group to recreate its nodes",
    )
    assert shown["InstanceStorageConfigs"][1] == "a deployment sets it with UpdateCluster"


def test_groups_that_only_one_side_has_are_shown_with_what_happens_to_them(account: DriftAccount) -> None:
    account.cluster.groups["extra"] = {**account.cluster.groups["work"], "InstanceGroupName": "extra", "InstanceCount": 2}
    account.cluster.running["extra"] = 2
    assert differences(account) == [
        ("group extra", "group", None, "2 nodes", "a deployment keeps the group: no deployment created it")
    ]
    account.deployed["extra"] = 2
    assert differences(account)[0][-1] == "a deployment deletes the group: the file removed it"


def test_tags_are_compared_and_those_of_others_are_kept(account: DriftAccount) -> None:
    account.cluster.tags |= {"team": "language", "cost": "7", "aws:x": "1"}
    assert differences(account, ("instance_groups:", "tags: {team: vision}\ninstance_groups:")) == [
        ("cluster", "tag team", "vision", "language", "a deployment sets the tag"),
        ("cluster", "tag cost", None, "7", "a deployment keeps the tag"),
    ]


def test_missing_nodes_and_nodes_with_another_bundle_differ(account: DriftAccount) -> None:
    account.cluster.running["work"] = 3
    nodes = account.sagemaker.list_cluster_nodes(ClusterName="theirs")["ClusterNodeSummaries"]
    first, second = (each["InstanceId"] for each in nodes[2:4])
    account.report(first, NEW)
    account.report(second, OLD)
    found = differences(account)
    assert [each[1:4] for each in found] == [("running nodes", "4", "3"), ("script bundle", NEW, OLD)]
    assert found[1][0].startswith(f"node {second}")


def test_the_exit_code_shows_differences_only_if_requested(account: DriftAccount) -> None:
    account.cluster.tags["cost"] = "7"
    assert compared(account).failure == ""
    result = compared(account, exit_code=True)
    assert result.failure == "the file, the cluster and its nodes differ"
    assert "1 difference between the file, cluster theirs and its nodes" in str(result)


def test_a_node_beyond_the_count_differs_though_enough_nodes_run(account: DriftAccount) -> None:
    account.update(InstanceCount=5)
    account.cluster.waiting_status = "Pending"
    pages = account.sagemaker.list_cluster_nodes(ClusterName="theirs")
    account.update(InstanceCount=4)
    account.sagemaker.list_cluster_nodes = lambda **_: pages  # type: ignore[method-assign]
    [(*where, action)] = differences(account)
    assert where == ["group work", "listed nodes", "4", "5"]
    assert "./hpod delete" in action


@pytest.fixture
def moved(account: DriftAccount) -> DriftAccount:
    """A continuous cluster with EKS, of which two nodes of `work` were moved to `head`."""
    account.cluster.settings |= {"Orchestrator": {"Eks": {"ClusterArn": "arn"}}, "NodeProvisioningMode": "Continuous"}
    account.cluster.groups["head"] |= {"InstanceType": "ml.p5.48xlarge", "InstanceCount": 3}
    account.update(InstanceCount=2)
    account.cluster.running |= {"work": 2, "head": 3}
    return account


MOVED = "since the last deployment, group work has 2 nodes fewer and group head 2 more: moved?"


def test_moved_nodes_are_recognized_and_kept(moved: DriftAccount) -> None:
    kept = {place: action for place, field, *_, action in differences(moved) if field == "InstanceCount"}
    assert kept == {"group work": f"{KEPT}; {MOVED}", "group head": f"{KEPT}; {MOVED}"}


def test_a_new_count_names_the_moved_nodes_that_it_launches_again(moved: DriftAccount) -> None:
    changes = [("instance_count: 4", "instance_count: 5")]
    actions = {place: action for place, field, *_, action in differences(moved, *changes) if field == "InstanceCount"}
    assert actions["group work"].startswith(f"a deployment sets it with UpdateCluster; {MOVED} First set `instance_count`")


@pytest.mark.parametrize("state", ["AttachInProgress", "DetachInProgress"])
def test_nodes_that_move_are_not_missing(account: DriftAccount, state: str) -> None:
    account.cluster.running["work"] = 3
    account.cluster.waiting_status = state
    [(_, field, *_, action)] = differences(account)
    assert field == "running nodes"
    assert action.startswith("no deployment is needed: HyperPod moves nodes")
