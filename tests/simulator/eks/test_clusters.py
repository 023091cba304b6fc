"""Life of a cluster: what EKS refuses, what it creates beside it, and what it waits for."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from local_aws import durations, faults
from local_aws.faults import Fault
from tests.simulator.eks.world import ROLE, World

pytestmark = pytest.mark.local


def refusal(call: Any, **request: Any) -> tuple[str, str]:
    with pytest.raises(ClientError) as refused:
        call(**request)
    error = refused.value.response["Error"]
    return error["Code"], error["Message"]


def test_a_cluster_is_creating_until_the_control_plane_and_the_clock_are_done(world: World) -> None:
    durations.change({"eks.create": 1e9})
    created = world.eks.create_cluster(**world.request())["cluster"]
    assert created["status"] == "CREATING"
    assert "endpoint" not in world.cluster()


def test_an_active_cluster_has_endpoint_authority_and_security_group(world: World) -> None:
    found = world.create()
    assert found["endpoint"] == world.programs.planes[0].endpoint
    assert found["certificateAuthority"]["data"]
    assert found["version"] == "1.34"
    assert found["accessConfig"] == {"authenticationMode": "API"}
    assert found["identity"]["oidc"]["issuer"].startswith("https://oidc.eks.us-west-2.amazonaws.com/id/")
    group = found["resourcesVpcConfig"]["clusterSecurityGroupId"]
    interfaces = world.client("ec2").describe_network_interfaces(Filters=[{"Name": "description", "Values": ["Amazon EKS ml"]}])
    assert len(interfaces["NetworkInterfaces"]) == 2
    assert {each["GroupId"] for each in interfaces["NetworkInterfaces"][0]["Groups"]} == {group, world.ids["group"]}
    assert world.eks.list_clusters()["clusters"] == ["ml"]


def test_a_control_plane_that_does_not_start_fails_the_cluster_with_its_reason(world: World) -> None:
    world.programs.problem = "etcd ended"
    world.eks.create_cluster(**world.request())
    failed = world.until(world.cluster, "FAILED")
    assert failed["health"]["issues"][0]["message"] == "etcd ended"


def test_a_defect_in_the_background_fails_the_cluster(world: World, caplog: pytest.LogCaptureFixture) -> None:
    world.programs.defect = "no such file"
    world.eks.create_cluster(**world.request())
    failed = world.until(world.cluster, "FAILED")
    assert failed["health"]["issues"][0]["message"] == "RuntimeError: no such file"
    assert "no such file" in caplog.text
    assert not world.programs.folders[0].exists()
    assert world.eks.delete_cluster(name="ml")["cluster"]["status"] == "DELETING"


def test_a_machine_without_the_programs_refuses_at_once_with_the_fix(world: World) -> None:
    world.programs.missing = ["the programs are not built; run `make kubernetes-setup`"]
    code, text = refusal(world.eks.create_cluster, **world.request())
    assert (code, "make kubernetes-setup" in text) == ("InvalidRequestException", True)
    assert world.eks.list_clusters()["clusters"] == []


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"version": "1.20"}, "unsupported Kubernetes version"),
        ({"roleArn": ROLE.replace("role/eks", "role/nobody")}, "could not be assumed"),
        ({"roleArn": ROLE.replace("role/eks", "role/people/viewer")}, "could not be assumed"),
        ({"accessConfig": {"authenticationMode": "CONFIG_MAP"}}, "use API"),
        ({"accessConfig": {}}, "CONFIG_MAP; use API"),
        ({"kubernetesNetworkConfig": {"ipFamily": "ipv6"}}, "not part of the embedded AWS"),
        ({"computeConfig": {"enabled": True}}, "not part of the embedded AWS"),
        ({"encryptionConfig": [{"resources": ["pods"]}]}, "encryptionConfig"),
        ({"name": "a/b"}, "pattern"),
    ],
)
def test_refused_requests(world: World, changes: dict[str, Any], text: str) -> None:
    assert text in refusal(world.eks.create_cluster, **world.request(**changes))[1]
    assert world.eks.list_clusters()["clusters"] == []


def test_subnets_must_be_in_two_zones_and_exist(world: World) -> None:
    one = {"subnetIds": [world.ids["a"]]}
    assert "two different AZs" in refusal(world.eks.create_cluster, **world.request(resourcesVpcConfig=one))[1]
    absent = {"subnetIds": [world.ids["a"], "subnet-0"]}
    assert "does not exist" in refusal(world.eks.create_cluster, **world.request(resourcesVpcConfig=absent))[1]
    closed = world.request()["resourcesVpcConfig"] | {"endpointPublicAccess": False}
    assert "cannot be false" in refusal(world.eks.create_cluster, **world.request(resourcesVpcConfig=closed))[1]


def test_a_name_is_in_use_except_for_the_same_token(world: World) -> None:
    request = world.request(clientRequestToken="one")
    first = world.eks.create_cluster(**request)["cluster"]
    assert world.eks.create_cluster(**request)["cluster"]["arn"] == first["arn"]
    assert refusal(world.eks.create_cluster, **world.request())[0] == "ResourceInUseException"


def test_logging_creates_a_group_without_retention_only_if_there_is_none(world: World) -> None:
    logs = world.client("logs")
    logs.create_log_group(logGroupName="/aws/eks/kept/cluster")
    logs.put_retention_policy(logGroupName="/aws/eks/kept/cluster", retentionInDays=30)
    logging = {"clusterLogging": [{"types": ["api", "audit"], "enabled": True}]}
    for name in ("ml", "kept"):
        world.create(name=name, logging=logging)
    groups = logs.describe_log_groups(logGroupNamePrefix="/aws/eks/")["logGroups"]
    assert {group["logGroupName"]: group.get("retentionInDays") for group in groups} == {
        "/aws/eks/kept/cluster": 30,
        "/aws/eks/ml/cluster": None,
    }
    assert world.cluster()["logging"]["clusterLogging"][0] == {"types": ["api", "audit"], "enabled": True}
    world.create(name="quiet")
    assert not logs.describe_log_groups(logGroupNamePrefix="/aws/eks/quiet")["logGroups"]


def test_delete_ends_the_control_plane_and_frees_the_network(world: World) -> None:
    found = world.create()
    group = found["resourcesVpcConfig"]["clusterSecurityGroupId"]
    ec2 = world.client("ec2")
    assert refusal(ec2.delete_subnet, SubnetId=world.ids["a"])[0] == "DependencyViolation"
    assert world.eks.delete_cluster(name="ml")["cluster"]["status"] == "DELETING"
    world.eks.get_waiter("cluster_deleted").wait(name="ml", WaiterConfig={"Delay": 0.05, "MaxAttempts": 100})
    assert not world.programs.planes[0].is_running
    assert refusal(ec2.describe_security_groups, GroupIds=[group])[0] == "InvalidGroup.NotFound"
    assert refusal(world.eks.describe_cluster, name="ml")[0] == "ResourceNotFoundException"


def test_delete_is_refused_while_creating_with_protection_and_with_add_ons(world: World) -> None:
    durations.change({"eks.create": 1e9})
    world.eks.create_cluster(**world.request(name="early"))
    assert refusal(world.eks.delete_cluster, name="early")[0] == "ResourceInUseException"
    durations.reset()
    world.create(deletionProtection=True)
    assert "deletion protection" in refusal(world.eks.delete_cluster, name="ml")[1]
    world.eks.update_cluster_config(name="ml", deletionProtection=False)
    world.until(world.cluster, "ACTIVE")
    world.eks.create_addon(clusterName="ml", addonName="vpc-cni")
    assert "addons attached" in refusal(world.eks.delete_cluster, name="ml")[1]


def test_updates_one_at_a_time(world: World) -> None:
    world.create()
    logging = {"clusterLogging": [{"types": ["audit"], "enabled": True}]}
    durations.change({"eks.update": 1e9})
    both = {"logging": logging, "deletionProtection": True}
    assert "Only one type of update" in refusal(world.eks.update_cluster_config, name="ml", **both)[1]
    update = world.eks.update_cluster_config(name="ml", logging=logging)["update"]
    assert (update["type"], update["status"], world.cluster()["status"]) == ("LoggingUpdate", "InProgress", "UPDATING")
    code, text = refusal(world.eks.update_cluster_config, name="ml", deletionProtection=True)
    assert (code, update["id"] in text) == ("ResourceInUseException", True)
    assert world.eks.list_updates(name="ml")["updateIds"] == [update["id"]]


def test_a_finished_update_is_successful_and_the_same_again_is_refused(world: World) -> None:
    world.create()
    access = {"endpointPrivateAccess": True, "publicAccessCidrs": ["10.0.0.0/8"]}
    update = world.eks.update_cluster_config(name="ml", resourcesVpcConfig=access)["update"]
    world.until(world.cluster, "ACTIVE")
    assert world.eks.describe_update(name="ml", updateId=update["id"])["update"]["status"] == "Successful"
    assert world.cluster()["resourcesVpcConfig"]["endpointPrivateAccess"] is True
    again = refusal(world.eks.update_cluster_config, name="ml", resourcesVpcConfig=access)
    assert "already at the desired configuration" in again[1]


def test_subnets_stay_in_the_zones_of_the_creation(world: World) -> None:
    world.create()
    vpc = {"subnetIds": [world.ids["a"], world.ids["c"]]}
    _, text = refusal(world.eks.update_cluster_config, name="ml", resourcesVpcConfig=vpc)
    assert "should belong to the exact set of AZs" in text


def test_the_version_goes_up_by_one(world: World) -> None:
    world.create(version="1.33")
    for version in ("1.35", "1.32"):
        assert (
            "Unsupported Kubernetes minor version update"
            in refusal(world.eks.update_cluster_version, name="ml", version=version)[1]
        )
    world.eks.update_cluster_version(name="ml", version="1.34")
    assert world.until(world.cluster, "ACTIVE")["version"] == "1.34"


def test_versions_have_a_default_and_support_dates(world: World) -> None:
    found = world.eks.describe_cluster_versions()["clusterVersions"]
    assert [each["clusterVersion"] for each in found if each["defaultVersion"]] == ["1.35"]
    extended = world.eks.describe_cluster_versions(versionStatus="EXTENDED_SUPPORT")["clusterVersions"]
    assert [each["clusterVersion"] for each in extended] == ["1.31", "1.30"]
    one = world.eks.describe_cluster_versions(clusterVersions=["1.34"])["clusterVersions"]
    assert [each["releaseDate"].year for each in one] == [2025]


def test_a_fault_fails_the_creation(world: World) -> None:
    faults.order(Fault("eks:CreateCluster", kind="fail", message="no capacity in the zone"))
    world.eks.create_cluster(**world.request())
    assert world.until(world.cluster, "FAILED")["health"]["issues"][0]["message"] == "no capacity in the zone"
    assert world.programs.planes == []


def test_tags_of_clusters_and_entries(world: World) -> None:
    arn = world.create(tags={"team": "ml"})["arn"]
    world.eks.tag_resource(resourceArn=arn, tags={"owner": "ops"})
    world.eks.untag_resource(resourceArn=arn, tagKeys=["team", "unknown"])
    assert world.eks.list_tags_for_resource(resourceArn=arn)["tags"] == {"owner": "ops"}
    assert refusal(world.eks.tag_resource, resourceArn=arn + "x", tags={"a": "b"})[0] == "ResourceNotFoundException"


def test_operations_that_are_not_emulated_say_so(world: World) -> None:
    code, text = refusal(world.eks.list_nodegroups, clusterName="ml")
    assert (code, text) == ("InvalidAction", "not part of the embedded AWS: eks:ListNodegroups")


def test_lists_have_pages(world: World) -> None:
    for name in ("a", "b", "c"):
        world.eks.create_cluster(**world.request(name=name))
    pages = list(world.eks.get_paginator("list_clusters").paginate(PaginationConfig={"PageSize": 2}))
    assert [page["clusters"] for page in pages] == [["a", "b"], ["c"]]
    assert refusal(world.eks.list_clusters, nextToken="?")[0] == "InvalidParameterException"
