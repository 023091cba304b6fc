"""Clusters that EKS orchestrates: what HyperPod refuses, and the access entries that it creates and deletes."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from local_aws import durations
from local_aws.hyperpod.eks_access import SERVICE_USER
from tests.simulator.hyperpod.eks_world import ACCOUNT, SERVICE_ROLE, EksSite
from tests.simulator.hyperpod.world import Caller

pytestmark = pytest.mark.local
ROLE = f"arn:aws:iam::{ACCOUNT}:role"
EKS = f"arn:aws:eks:us-west-2:{ACCOUNT}"
ENABLED = {"AutoScaling": {"Mode": "Enable", "AutoScalerType": "Karpenter"}}
CONTINUOUS = {"NodeProvisioningMode": "Continuous"}
LONG = "a" * 64


def taint(key: str, effect: str = "NoSchedule") -> dict[str, str]:
    return {"Key": key, "Effect": effect}


def refusal(call: Any, *groups: dict[str, Any], **settings: Any) -> tuple[str, str]:
    with pytest.raises(ClientError) as refused:
        call(*groups, **settings)
    error = refused.value.response["Error"]
    return error["Code"], error["Message"]


@pytest.mark.parametrize(
    ("group", "settings", "text"),
    [
        ({}, {"Orchestrator": {"Eks": {"ClusterArn": f"arn:aws:eks:us-west-2:{ACCOUNT}:cluster/none"}}}, "does not exist"),
        ({}, {"Orchestrator": {"Eks": {"ClusterArn": f"arn:aws:eks:eu-west-1:{ACCOUNT}:cluster/ml"}}}, "region us-west-2"),
        ({}, {"VpcConfig": None}, "VpcConfig is required"),
        ({"SlurmConfig": {"NodeType": "Controller"}}, {}, "SlurmConfig of instance group a cannot"),
        ({"LifeCycleConfig": None}, {}, "LifeCycleConfig is required for instance group a"),
        ({}, ENABLED, "NodeProvisioningMode Continuous"),
        ({}, {**ENABLED, **CONTINUOUS}, "requires ClusterRole"),
        ({}, {**ENABLED, **CONTINUOUS, "ClusterRole": f"{ROLE}/eks"}, "cannot assume ClusterRole"),
        ({"KubernetesConfig": {"Labels": {LONG: "1"}}}, {}, "name of at most 63"),
        ({"KubernetesConfig": {"Taints": [taint("a"), taint("a")]}}, {}, "unique keys and effects"),
        ({"KubernetesConfig": {"Taints": [taint(f"a{number}") for number in range(51)]}}, {}, "less than or equal to 50"),
        ({"KubernetesConfig": {"Taints": [taint("a", "Never")]}}, {}, "enum value set"),
    ],
)
def test_a_request_that_makes_no_sense_is_refused(
    site: EksSite, group: dict[str, Any], settings: dict[str, Any], text: str
) -> None:
    spec = {key: value for key, value in site.world.group("a", **group).items() if value is not None}
    asked = {"VpcConfig": site.world.vpc(), **site.settings(**settings)}
    request = {"ClusterName": "ml", "InstanceGroups": [spec], **{key: value for key, value in asked.items() if value is not None}}
    code, message = refusal(lambda: site.world.client("sagemaker", retries=0).create_cluster(**request))
    assert code in ("ValidationException", "ParamValidationError")
    assert text in message
    assert set(site.entries()) == set()


def test_labels_without_eks_are_refused(site: EksSite) -> None:
    group = site.world.group("a", KubernetesConfig={"Labels": {"team": "a"}})
    assert "requires Orchestrator.Eks" in refusal(site.world.create, group)[1]


def test_an_eks_cluster_must_be_active(site: EksSite) -> None:
    durations.change({"eks.create": 1e9})
    site.eks.create_cluster(**site.request("new"))
    code, text = refusal(site.world.create, site.world.group("a"), **site.settings("new"))
    assert (code, "is CREATING" in text) == ("ValidationException", True)


def test_nodes_must_be_in_the_vpc_of_the_eks_cluster(site: EksSite) -> None:
    ec2 = site.world.ec2
    vpc = ec2.create_vpc(CidrBlock="10.9.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.9.0.0/24")["Subnet"]["SubnetId"]
    group = ec2.create_security_group(VpcId=vpc, GroupName="far", Description="far")["GroupId"]
    config = {"Subnets": [subnet], "SecurityGroupIds": [group]}
    assert f"{subnet} is in VPC {vpc}" in refusal(site.world.create, site.world.group("a"), **site.settings(VpcConfig=config))[1]


def test_an_eks_cluster_has_one_hyperpod_cluster(site: EksSite) -> None:
    site.world.create(site.world.group("a"), **site.settings())
    code, text = refusal(site.world.create, site.world.group("a"), name="other", **site.settings())
    assert (code, "already the orchestrator of cluster ml" in text) == ("ResourceInUse", True)


def test_hyperpod_creates_the_access_entries_and_deletes_them_with_the_cluster(site: EksSite) -> None:
    site.world.in_service(site.world.group("a"), site.world.group("b"), **site.settings())
    entries = site.entries()
    nodes, service = entries[site.world.role], entries[SERVICE_ROLE]
    assert len(entries) == 2
    assert (nodes["type"], nodes["kubernetesGroups"]) == ("HYPERPOD_LINUX", ["system:nodes"])
    assert (service["type"], service["username"]) == ("STANDARD", SERVICE_USER)

    site.world.sagemaker.delete_cluster(ClusterName="ml")
    site.world.until_gone()
    assert site.entries() == {}


def test_an_entry_that_exists_outlives_the_cluster(site: EksSite) -> None:
    site.eks.create_access_entry(clusterName="ml", principalArn=site.world.role, type="HYPERPOD_LINUX")
    site.world.in_service(site.world.group("a"), **site.settings())
    site.world.sagemaker.delete_cluster(ClusterName="ml")
    site.world.until_gone()
    assert set(site.entries()) == {site.world.role}


def test_the_events_of_a_cluster_name_its_access_entries(site: EksSite) -> None:
    site.world.in_service(site.world.group("a"), **site.settings(**CONTINUOUS))
    sagemaker = site.world.sagemaker
    event = sagemaker.list_cluster_events(ClusterName="ml", ResourceType="Cluster")["Events"][-1]
    details = sagemaker.describe_cluster_event(ClusterName="ml", EventId=event["EventId"])["EventDetails"]["EventDetails"]
    assert details["EventMetadata"]["Cluster"] == {"EksRoleAccessEntries": [site.world.role], "SlrAccessEntry": SERVICE_ROLE}


def test_labels_and_taints_are_described_and_can_be_changed(site: EksSite) -> None:
    config = {"Labels": {"team": "a"}, "Taints": [taint("gpu")]}
    site.world.in_service(site.world.group("a", KubernetesConfig=config), **site.settings())
    changed = {**config, "Labels": {"team": "b"}}
    site.world.sagemaker.update_cluster(ClusterName="ml", InstanceGroups=[site.world.group("a", KubernetesConfig=changed)])
    shown = site.world.until_status("InService")["InstanceGroups"][0]["KubernetesConfig"]
    assert shown["CurrentLabels"] == shown["DesiredLabels"] == {"team": "b"}
    assert shown["CurrentTaints"] == [taint("gpu")]


def test_a_cluster_keeps_its_orchestrator(site: EksSite) -> None:
    site.world.in_service(site.world.group("a"), **site.settings())
    settings = site.settings("other")
    assert "cannot be changed" in refusal(lambda: site.world.sagemaker.update_cluster(ClusterName="ml", **settings))[1]


def test_a_cluster_outlives_its_eks_cluster_and_can_be_deleted(site: EksSite) -> None:
    site.world.in_service(site.world.group("a"), **site.settings())
    site.eks.delete_cluster(name="ml")
    site.world.until(lambda: site.eks.list_clusters()["clusters"], lambda names: names == [])
    assert site.world.cluster()["ClusterStatus"] == "InService"
    site.world.sagemaker.delete_cluster(ClusterName="ml")
    site.world.until_gone()


RIGHTS = {
    "sagemaker:*": "*",
    "iam:PassRole": "*",
    "iam:CreateServiceLinkedRole": SERVICE_ROLE,
    **dict.fromkeys(["eks:DescribeCluster", "eks:CreateAccessEntry"], f"{EKS}:cluster/ml"),
    **dict.fromkeys(
        ["eks:DescribeAccessEntry", "eks:AssociateAccessPolicy", "eks:DeleteAccessEntry"], f"{EKS}:access-entry/ml/*"
    ),
}


def all_but(*actions: str) -> list[dict[str, Any]]:
    return [{"Action": action, "Resource": arn} for action, arn in RIGHTS.items() if action not in actions]


@pytest.mark.parametrize("missing", [action for action in RIGHTS if action not in ("sagemaker:*", "eks:DeleteAccessEntry")])
def test_the_caller_of_create_cluster_needs_rights_in_eks(site: EksSite, caller: Caller, missing: str) -> None:
    site.forget_service_role()
    request = {"ClusterName": "ml", "VpcConfig": site.world.vpc(), "InstanceGroups": [site.world.group("a")], **site.settings()}
    code, text = refusal(lambda: caller(*all_but(missing)).create_cluster(**request))
    assert (code, missing in text) == ("AccessDeniedException", True)
    assert site.world.sagemaker.list_clusters()["ClusterSummaries"] == []
    assert site.entries() == {}
    assert caller(*all_but("eks:DeleteAccessEntry")).create_cluster(**request)["ClusterArn"]


def test_the_caller_of_delete_cluster_needs_the_right_to_delete_the_entries(site: EksSite, caller: Caller) -> None:
    site.world.in_service(site.world.group("a"), **site.settings())
    code, text = refusal(lambda: caller(*all_but("eks:DeleteAccessEntry")).delete_cluster(ClusterName="ml"))
    assert (code, "eks:DeleteAccessEntry" in text) == ("AccessDeniedException", True)
    assert site.world.cluster()["ClusterStatus"] == "InService"


def test_new_roles_of_nodes_need_rights_in_eks_too(site: EksSite, caller: Caller) -> None:
    site.world.in_service(site.world.group("a"), **site.settings())
    groups = [site.world.group("a"), site.world.group("b")]
    client = caller(*all_but("eks:CreateAccessEntry"))
    assert "eks:CreateAccessEntry" in refusal(lambda: client.update_cluster(ClusterName="ml", InstanceGroups=groups))[1]
