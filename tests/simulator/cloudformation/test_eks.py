"""An EKS cluster in a stack: created with its parts, changed, and deleted in order."""

from collections.abc import Iterator
from typing import Any

import pytest

from local_aws import eks
from local_aws.eks import control_planes
from local_aws.hyperpod import service_behaviour
from tests.simulator.cloudformation.conftest import World, parameter
from tests.simulator.eks.world import POLICY, FakePrograms

pytestmark = pytest.mark.local
SERVICES = {"Role": "eks", "Pods": "pods.eks", "Viewer": "ec2"}


@pytest.fixture(autouse=True)
def programs() -> Iterator[FakePrograms]:
    fake = FakePrograms()
    control_planes.use(fake.programs())
    yield fake
    service_behaviour.reset()
    eks.reset()
    control_planes.use(control_planes.REAL)


def _role(service: str) -> dict[str, Any]:
    principal = {"Service": f"{service}.amazonaws.com"}
    statement = {"Effect": "Allow", "Principal": principal, "Action": ["sts:AssumeRole", "sts:TagSession"]}
    return {"AssumeRolePolicyDocument": {"Version": "2012-10-17", "Statement": [statement]}}


def _resources(cluster: dict[str, Any] | None = None, addon: str = "vpc-cni", policy: str = "View") -> dict[str, Any]:
    subnets = {
        name: (
            "EC2::Subnet",
            {"VpcId": {"Ref": "Vpc"}, "CidrBlock": f"10.0.{number}.0/24", "AvailabilityZone": f"us-west-2{zone}"},
        )
        for number, (name, zone) in enumerate({"One": "a", "Two": "b"}.items())
    }
    settings = {
        "Name": "ml",
        "Version": "1.33",
        "RoleArn": {"Fn::GetAtt": ["Role", "Arn"]},
        "ResourcesVpcConfig": {"SubnetIds": [{"Ref": "One"}, {"Ref": "Two"}], "EndpointPrivateAccess": True},
        "AccessConfig": {"AuthenticationMode": "API", "BootstrapClusterCreatorAdminPermissions": False},
        "Logging": {"ClusterLogging": {"EnabledTypes": [{"Type": "audit"}]}},
        "Tags": [{"Key": "team", "Value": "ml"}],
        **(cluster or {}),
    }
    name = {"ClusterName": {"Ref": "Cluster"}}
    scope = {"PolicyArn": POLICY.format(policy), "AccessScope": {"Type": "namespace", "Namespaces": ["ml"]}}
    kinds: dict[str, tuple[str, dict[str, Any]]] = {
        "Vpc": ("EC2::VPC", {"CidrBlock": "10.0.0.0/16"}),
        **subnets,
        **{each: ("IAM::Role", _role(service)) for each, service in SERVICES.items()},
        "Cluster": ("EKS::Cluster", settings),
        "Addon": ("EKS::Addon", {**name, "AddonName": addon, "ResolveConflicts": "OVERWRITE"}),
        "Entry": ("EKS::AccessEntry", {**name, "PrincipalArn": {"Fn::GetAtt": ["Viewer", "Arn"]}, "AccessPolicies": [scope]}),
        "Pod": (
            "EKS::PodIdentityAssociation",
            {**name, "Namespace": "ml", "ServiceAccount": "train", "RoleArn": {"Fn::GetAtt": ["Pods", "Arn"]}},
        ),
    }
    made = {each: {"Type": f"AWS::{kind}", "Properties": properties} for each, (kind, properties) in kinds.items()}
    for attribute in ("Endpoint", "CertificateAuthorityData", "ClusterSecurityGroupId", "OpenIdConnectIssuerUrl", "Arn"):
        made[attribute] = parameter(attribute, {"Fn::GetAtt": ["Cluster", attribute]})
    return made


def test_a_cluster_lives_in_a_stack(world: World, programs: FakePrograms) -> None:
    assert world.deploy(_resources()) == "CREATE_COMPLETE", world.failures()
    client = world.client("eks")
    cluster = client.describe_cluster(name="ml")["cluster"]
    values = world.parameters()
    assert values["/Endpoint"] == cluster["endpoint"]
    assert values["/ClusterSecurityGroupId"] == cluster["resourcesVpcConfig"]["clusterSecurityGroupId"]
    assert cluster["resourcesVpcConfig"]["endpointPrivateAccess"] is True
    assert cluster["logging"]["clusterLogging"][0] == {"types": ["audit"], "enabled": True}
    assert cluster["tags"] == {"team": "ml"}
    assert client.list_addons(clusterName="ml")["addons"] == ["vpc-cni"]
    [principal] = client.list_access_entries(clusterName="ml")["accessEntries"]
    [policy] = client.list_associated_access_policies(clusterName="ml", principalArn=principal)["associatedAccessPolicies"]
    assert policy["accessScope"] == {"type": "namespace", "namespaces": ["ml"]}
    assert len(client.list_pod_identity_associations(clusterName="ml")["associations"]) == 1

    changes = {
        "Version": "1.34",
        "DeletionProtection": False,
        "UpgradePolicy": {"SupportType": "STANDARD"},
        "Logging": {"ClusterLogging": {"EnabledTypes": [{"Type": "api"}]}},
        "Tags": [{"Key": "owner", "Value": "ops"}],
    }
    assert world.deploy(_resources(changes, policy="Edit")) == "UPDATE_COMPLETE", world.failures()
    changed = client.describe_cluster(name="ml")["cluster"]
    assert (changed["arn"], changed["version"], changed["tags"]) == (cluster["arn"], "1.34", {"owner": "ops"})
    assert changed["logging"]["clusterLogging"][0] == {"types": ["api"], "enabled": True}
    assert changed["upgradePolicy"] == {"supportType": "STANDARD"}
    [policy] = client.list_associated_access_policies(clusterName="ml", principalArn=principal)["associatedAccessPolicies"]
    assert policy["policyArn"] == POLICY.format("Edit")

    assert world.delete() == "DELETE_COMPLETE", world.failures()
    assert client.list_clusters()["clusters"] == []
    assert not programs.planes[0].is_running


def test_coredns_without_nodes_is_complete_as_terraform_saw_it(world: World) -> None:
    assert world.deploy(_resources(addon="coredns")) == "CREATE_COMPLETE", world.failures()
    assert world.client("eks").describe_addon(clusterName="ml", addonName="coredns")["addon"]["status"] == "DEGRADED"


def test_coredns_without_nodes_fails_the_stack_and_the_rollback_removes_all(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("local_aws.cloudformation.resources.eks.SCHEDULER_S", 0)  # no real program runs here
    service_behaviour.choose({"degraded_addons": "fail"})
    assert world.deploy(_resources(addon="coredns")) == "ROLLBACK_COMPLETE"
    assert "InsufficientNumberOfReplicas" in str(world.failures())
    assert world.client("eks").list_clusters()["clusters"] == []


def test_a_control_plane_that_does_not_start_fails_the_stack_with_its_reason(world: World, programs: FakePrograms) -> None:
    programs.problem = "etcd ended"
    assert world.deploy(_resources()) == "ROLLBACK_COMPLETE"
    assert "etcd ended" in str(world.failures())
