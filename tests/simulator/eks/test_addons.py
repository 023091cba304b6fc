"""Add-ons and Pod Identity associations, where the field saw EKS refuse or degrade."""

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from local_aws import durations
from tests.simulator.eks.world import PODS, VIEWER, World

pytestmark = pytest.mark.local
OPERATOR = "amazon-sagemaker-hyperpod-training-operator"
IDENTITY = [{"serviceAccount": "controller", "roleArn": PODS}]


@pytest.fixture
def cluster(world: World) -> World:
    world.create()
    return world


def refusal(call: Any, **request: Any) -> tuple[str, str]:
    with pytest.raises(ClientError) as refused:
        call(clusterName="ml", **request)
    error = refused.value.response["Error"]
    return error["Code"], error["Message"]


@pytest.mark.parametrize("name", ["vpc-cni", "kube-proxy", "eks-pod-identity-agent"])
def test_add_ons_that_are_active_without_nodes(cluster: World, name: str) -> None:
    made = cluster.eks.create_addon(clusterName="ml", addonName=name)["addon"]
    assert made["status"] == "CREATING"
    assert cluster.until(lambda: cluster.addon(name), "ACTIVE")["health"]["issues"] == []


def test_coredns_is_degraded_until_a_node_is_ready(cluster: World) -> None:
    cluster.eks.create_addon(clusterName="ml", addonName="coredns")
    degraded = cluster.until(lambda: cluster.addon("coredns"), "DEGRADED")
    assert degraded["health"]["issues"][0]["code"] == "InsufficientNumberOfReplicas"
    nodes = cluster.programs.planes[0].objects["/api/v1/nodes"]["items"]
    nodes.append({"status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}})
    assert cluster.addon("coredns")["status"] == "DEGRADED"
    nodes[0]["status"]["conditions"][0]["status"] = "True"
    assert cluster.addon("coredns")["status"] == "ACTIVE"


def test_versions_must_fit_the_cluster(cluster: World) -> None:
    create = cluster.eks.create_addon
    assert "not supported" in refusal(create, addonName="coredns", addonVersion="v1.11.4-eksbuild.2")[1]
    assert "not supported in 1.34" in refusal(create, addonName="slinky")[1]
    made = create(clusterName="ml", addonName="coredns")["addon"]
    [described] = cluster.eks.describe_addon_versions(kubernetesVersion="1.34", addonName="coredns")["addons"]
    defaults = [one["addonVersion"] for one in described["addonVersions"] if one["compatibilities"][0]["defaultVersion"]]
    assert [made["addonVersion"]] == defaults


def test_the_settings_of_a_version_have_a_schema(cluster: World) -> None:
    describe = cluster.eks.describe_addon_configuration
    found = describe(addonName="coredns", addonVersion="v1.13.1-eksbuild.1")
    assert json.loads(found["configurationSchema"])["type"] == "object"
    with pytest.raises(ClientError, match="is not found"):
        describe(addonName="coredns", addonVersion="v0.0.1-eksbuild.1")


def test_inline_pod_identity_is_refused_where_a_version_needs_no_permissions(cluster: World) -> None:
    new = {"addonName": OPERATOR, "addonVersion": "v1.2.1-eksbuild.1", "podIdentityAssociations": IDENTITY}
    assert "Pod Identity feature is not supported" in refusal(cluster.eks.create_addon, **new)[1]
    cluster.eks.create_addon(clusterName="ml", **{**new, "addonVersion": "v1.2.0-eksbuild.1"})
    [association] = cluster.eks.list_pod_identity_associations(clusterName="ml")["associations"]
    assert (association["namespace"], association["serviceAccount"]) == ("aws-hyperpod", "controller")
    found = {"associationId": association["associationId"]}
    assert "managed by add-on" in refusal(cluster.eks.delete_pod_identity_association, **found)[1]
    cluster.until(lambda: cluster.addon(OPERATOR), "DEGRADED")
    cluster.eks.delete_addon(clusterName="ml", addonName=OPERATOR)
    cluster.eks.get_waiter("addon_deleted").wait(
        clusterName="ml", addonName=OPERATOR, WaiterConfig={"Delay": 0.05, "MaxAttempts": 100}
    )
    assert cluster.eks.list_pod_identity_associations(clusterName="ml")["associations"] == []


def test_an_add_on_takes_one_change_at_a_time(cluster: World) -> None:
    durations.change({"eks.addon.create": 1e9})
    cluster.eks.create_addon(clusterName="ml", addonName="vpc-cni")
    assert refusal(cluster.eks.update_addon, addonName="vpc-cni", resolveConflicts="OVERWRITE")[0] == "ResourceInUseException"
    assert refusal(cluster.eks.delete_addon, addonName="vpc-cni")[0] == "ResourceInUseException"


def test_updates_of_an_add_on(cluster: World) -> None:
    cluster.eks.create_addon(clusterName="ml", addonName="vpc-cni", addonVersion="v1.20.4-eksbuild.2")
    cluster.until(lambda: cluster.addon("vpc-cni"), "ACTIVE")
    assert "JSON" in refusal(cluster.eks.update_addon, addonName="vpc-cni", configurationValues="a: b")[1]
    update = cluster.eks.update_addon(clusterName="ml", addonName="vpc-cni", addonVersion="v1.20.5-eksbuild.1")["update"]
    assert (update["type"], update["status"]) == ("AddonUpdate", "InProgress")
    names = {"name": "ml", "addonName": "vpc-cni", "updateId": update["id"]}
    cluster.until(lambda: dict(cluster.eks.describe_update(**names)["update"]), "Successful")
    assert cluster.addon("vpc-cni")["addonVersion"] == "v1.20.5-eksbuild.1"
    durations.change({"eks.addon.update": 1e9})
    cluster.eks.update_addon(clusterName="ml", addonName="vpc-cni", configurationValues='{"env": {}}')
    assert cluster.addon("vpc-cni")["status"] == "UPDATING"


def test_add_ons_exist_once_and_need_an_active_cluster(world: World) -> None:
    durations.change({"eks.create": 1e9})
    world.eks.create_cluster(**world.request())
    assert refusal(world.eks.create_addon, addonName="vpc-cni")[0] == "InvalidRequestException"
    durations.reset()
    world.create(name="other")
    world.eks.create_addon(clusterName="other", addonName="vpc-cni")
    with pytest.raises(ClientError, match="Addon already exists"):
        world.eks.create_addon(clusterName="other", addonName="vpc-cni")
    assert refusal(world.eks.describe_addon, addonName="vpc-cni")[0] == "ResourceNotFoundException"


def test_a_service_account_has_one_association_of_a_role_that_trusts_pod_identity(cluster: World) -> None:
    new = {"namespace": "ml", "serviceAccount": "train", "roleArn": PODS}
    assert "sts:AssumeRole" in refusal(cluster.eks.create_pod_identity_association, **{**new, "roleArn": VIEWER})[1]
    made = cluster.eks.create_pod_identity_association(clusterName="ml", **new)["association"]
    assert refusal(cluster.eks.create_pod_identity_association, **new)[0] == "ResourceInUseException"
    found = {"clusterName": "ml", "associationId": made["associationId"]}
    assert cluster.eks.describe_pod_identity_association(**found)["association"]["roleArn"] == PODS
    assert cluster.eks.list_pod_identity_associations(clusterName="ml", namespace="other")["associations"] == []
    changed = cluster.eks.update_pod_identity_association(**found, disableSessionTags=True)["association"]
    assert changed["disableSessionTags"] is True
    cluster.eks.delete_pod_identity_association(**found)
    assert (
        refusal(cluster.eks.describe_pod_identity_association, associationId=made["associationId"])[0]
        == "ResourceNotFoundException"
    )
