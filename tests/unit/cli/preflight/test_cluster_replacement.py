"""A change that replaces the HyperPod cluster of an EKS cluster."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from cli.preflight.check import CheckResult
from cli.preflight.cluster import cluster_replacement
from tests.unit.cli.fake_stack import Json
from tests.unit.cli.preflight.fake_aws import ACCOUNT, FILE, asked, only, outcomes, parsed, refused, stacks
from tests.unit.cli.preflight.test_eks import ARN, EXISTING, NEW

STACK = "arn:aws:cloudformation:us-west-2:123456789012:stack/draft-Cluster/1"
TAGS = [{"Key": "hyperpod-cdk:stack-id", "Value": STACK}, {"Key": "hyperpod-cdk:logical-id", "Value": "Cluster"}]
ROLE = f"arn:aws:iam::{ACCOUNT}:role/NodeRole"
NODE_ROLE = {"LogicalResourceId": "NodeRole1", "ResourceType": "AWS::IAM::Role", "ResourceStatus": "CREATE_COMPLETE"}
NODE_ROLE |= {"PhysicalResourceId": "NodeRole", "StackId": STACK}
OTHER_SUBNET = EXISTING.replace("subnet-00000001", "subnet-00000002")


def check(
    file: str, deployed: str, eks: str = ARN, groups: Sequence[Json] = (), request: Json | None = None, *, mode: str = ""
) -> list[CheckResult]:
    """Check the file while the cluster of another version of it is deployed."""
    described = {
        "ClusterName": "draft-1",
        "ClusterArn": "arn:aws:sagemaker:us-west-2:123456789012:cluster/abcdefghijkl",
        "ClusterStatus": "InService",
        "VpcConfig": {"Subnets": ["subnet-00000001"], "SecurityGroupIds": ["sg-00000001"]},
        "Orchestrator": {"Eks": {"ClusterArn": eks}},
        "InstanceGroups": list(groups),
        **({"NodeProvisioningMode": mode} if mode else {}),
    }
    resource = {"LogicalResourceId": "Cluster", "ResourceType": "Custom::HyperPodCluster", "ResourceStatus": "CREATE_COMPLETE"}
    properties = {"NetworkIdentity": parsed(deployed).network.identity, "Request": request or {}}
    template = {"Resources": {"Cluster": {"Type": "Custom::HyperPodCluster", "Properties": properties}}}
    outputs = {"NodeSubnetIds": "subnet-00000001", "SecurityGroupId": "sg-00000001"}
    answers: dict[str, Any] = {
        "cloudformation.describe_stacks": stacks(
            Network=outputs, Kubernetes={"EksClusterArn": ARN}, Cluster={"ClusterName": "draft-1"}
        ),
        "cloudformation.describe_stack_resources": {"StackResources": [{**resource, "StackId": STACK}, NODE_ROLE]},
        "iam.get_role": {"Role": {"Arn": ROLE}},
        "cloudformation.get_template": {"TemplateBody": json.dumps(template)},
        "eks.describe_cluster": {"cluster": {"arn": ARN, "endpoint": "https://eks"}},
        "sagemaker.describe_cluster": described,
        "sagemaker.list_tags": {"Tags": TAGS},
        "sagemaker.list_cluster_nodes": {"ClusterNodeSummaries": []},
    }
    return asked(cluster_replacement, answers, file)


@pytest.mark.parametrize("file", [NEW, EXISTING])
def test_an_update_in_place_is_well(file: str) -> None:
    found = only(check(file, file))
    assert (found.outcome, found.message) == ("ok", "a deployment updates draft-1 in place")


@pytest.mark.fault(95)
@pytest.mark.parametrize(("file", "field"), [(OTHER_SUBNET, "Subnets"), (EXISTING + "cluster_name: two\n", "cluster_name")])
def test_a_replacement_is_an_error_with_the_commands_that_make_it_possible(file: str, field: str) -> None:
    found = only(check(file, EXISTING))
    assert found.outcome == "error"
    assert found.message.startswith(f"{field} of cluster draft-1 cannot change: ")
    assert found.fix == "undo the change, or run `cdk destroy draft/Addons draft/Cluster`, then deploy again"


@pytest.mark.parametrize("network", ["availability_zone_id: usw2-az2", "availability_zone_id: usw2-az4, node_cidr: 10.8.0.0/16"])
def test_a_new_network_requires_a_new_eks_cluster(network: str) -> None:
    file = NEW.replace("availability_zone_id: usw2-az4", network)
    found = only(check(file, NEW))
    assert (found.outcome, found.fix) == ("error", "undo the change, or run `cdk destroy 'draft/*'`, then deploy")


def test_another_eks_cluster_can_have_the_new_cluster() -> None:
    assert outcomes(check(OTHER_SUBNET, EXISTING, eks=f"{ARN}-old")) == ["ok"]


def test_a_removal_that_the_deployment_refuses_is_an_error() -> None:
    common = {"ThreadsPerCore": 1, "ExecutionRole": ROLE}
    group = {**common, "InstanceGroupName": "work", "InstanceType": "ml.trn1.32xlarge"}
    deployed = {"InstanceGroups": [{**group, "InstanceCount": 4, "MinInstanceCount": 2, "ExecutionRole": {"Ref": "Role"}}]}
    head = {**common, "InstanceGroupName": "head", "InstanceType": "ml.c5.xlarge", "TargetCount": 1, "CurrentCount": 1}
    shown = [head, {**group, "TargetCount": 4, "CurrentCount": 4, "MinCount": 2, "Status": "InService"}]
    found = only(check(FILE, FILE, groups=shown, request=deployed))
    assert found.outcome == "error"
    assert found.message == "MinInstanceCount of instance group 'work' cannot be removed: HyperPod keeps 2"
    assert found.fix.startswith("set it to its InstanceCount, so that all nodes are required, or rename the group: ")


def test_a_cluster_that_is_gone_is_not_replaced() -> None:
    no_cluster: Json = {"cloudformation.describe_stacks": stacks(Cluster={"ClusterName": "draft-1"})}
    gone = {**no_cluster, "sagemaker.describe_cluster": refused("ResourceNotFound")}
    assert outcomes(asked(cluster_replacement, gone, NEW)) == ["skipped"]


SERVING = "  - {name: serving, instance_type: ml.g5.8xlarge, instance_count: 1}\nprovisioning: continuous\n"
TWO_GROUPS = EXISTING + SERVING
GROUP = {"InstanceType": "ml.g5.8xlarge", "ExecutionRole": ROLE, "ThreadsPerCore": 1}


def after_a_move(file: str, *, other_type: str = "ml.g5.8xlarge", mode: str = "Continuous") -> list[CheckResult]:
    """Check a file after one of the two nodes of workers was moved to the group serving."""
    deployed = {"workers": 2, "serving": 1}
    request = {"InstanceGroups": [{"InstanceGroupName": name, "InstanceCount": count} for name, count in deployed.items()]}
    workers = {**GROUP, "InstanceGroupName": "workers", "TargetCount": 1, "CurrentCount": 1}
    serving = {**GROUP, "InstanceGroupName": "serving", "TargetCount": 2, "CurrentCount": 2, "InstanceType": other_type}
    return check(file, file, groups=[workers, serving], request=request, mode=mode)


def test_moved_nodes_are_kept_by_a_deployment_that_changes_no_count() -> None:
    assert outcomes(after_a_move(TWO_GROUPS)) == ["ok"]


def test_a_deployment_that_launches_moved_nodes_again_is_a_warning() -> None:
    [_, found] = after_a_move(TWO_GROUPS.replace("instance_count: 2", "instance_count: 3"))
    assert found.outcome == "warning"
    assert found.message == (
        "since the last deployment, group workers has 1 node fewer and group serving 1 more: moved?"
        " The deployment changes workers from 1 node to 3: it launches or terminates instances"
    )
    assert found.fix.startswith("set `instance_count` of both groups to their current counts")


def test_the_current_counts_in_the_file_keep_moved_nodes() -> None:
    swapped = EXISTING.replace("instance_count: 2", "instance_count: 1") + SERVING.replace("count: 1", "count: 2")
    assert outcomes(after_a_move(swapped)) == ["ok"]


def test_only_nodes_of_the_same_type_on_a_continuous_cluster_are_moved() -> None:
    file = TWO_GROUPS.replace("instance_count: 2", "instance_count: 3")
    assert outcomes(after_a_move(file.replace("provisioning: continuous\n", ""), mode="")) == ["ok"]
    other = file.replace("serving, instance_type: ml.g5.8xlarge", "serving, instance_type: ml.g5.12xlarge")
    assert outcomes(after_a_move(other, other_type="ml.g5.12xlarge")) == ["ok"]
