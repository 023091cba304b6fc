"""The objects of teams: namespaces, rights and volume claims."""

import json
from typing import Any

import pytest

from cluster_request.kubernetes_objects.dependencies import dependencies, object_properties, objects_of
from cluster_request.kubernetes_objects.shared_file_system import SharedFileSystem, file_system_objects
from cluster_request.kubernetes_objects.team_objects import team_group, team_objects, team_roles
from cluster_resource.property_values import typed
from config.eks import EksConfig
from kubernetes_resource.objects import Desired
from tests.unit.cluster_request.kubernetes_objects.eks_file import FILE_SYSTEM, eks_file

Json = dict[str, Any]
MAX_EVENT = 256 * 1024
"""What Step Functions accepts as the input of an execution: https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html"""


def teams_of(*names: str, **fields: Any) -> Any:
    eks = eks_file(*names, **fields).eks
    assert eks
    return eks.teams


def by_name(objects: list[Json], kind: str) -> dict[str, Json]:
    return {item["metadata"]["name"]: item for item in objects if item["kind"] == kind}


def test_a_file_without_teams_has_only_what_hyperpod_needs() -> None:
    assert objects_of(eks_file(), region="us-west-2", file_system=FILE_SYSTEM) == dependencies("us-west-2")


def test_a_team_has_a_namespace_rights_and_a_claim() -> None:
    objects = objects_of(eks_file("research", "vision"), region="us-west-2", file_system=FILE_SYSTEM)
    added = [item for item in objects if item not in dependencies("us-west-2")]
    assert [(item["kind"], item["metadata"].get("namespace", ""), item["metadata"]["name"]) for item in added] == [
        ("ClusterRole", "", "hyperpod-cdk-team"),
        ("ClusterRole", "", "hyperpod-cdk-team-nodes"),
        ("ClusterRoleBinding", "", "hyperpod-cdk-team-nodes"),
        ("Namespace", "", "hyperpod-ns-research"),
        ("ResourceQuota", "hyperpod-ns-research", "no-load-balancers"),
        ("RoleBinding", "hyperpod-ns-research", "hyperpod-cdk-team"),
        ("Namespace", "", "hyperpod-ns-vision"),
        ("ResourceQuota", "hyperpod-ns-vision", "no-load-balancers"),
        ("RoleBinding", "hyperpod-ns-vision", "hyperpod-cdk-team"),
        ("PersistentVolume", "", "fsx-fs-0123456789abcdef0-hyperpod-ns-research"),
        ("PersistentVolumeClaim", "hyperpod-ns-research", "fsx-fs-0123456789abcdef0"),
        ("PersistentVolume", "", "fsx-fs-0123456789abcdef0-hyperpod-ns-vision"),
        ("PersistentVolumeClaim", "hyperpod-ns-vision", "fsx-fs-0123456789abcdef0"),
    ]


def test_without_a_file_system_a_team_has_no_claim() -> None:
    kinds = {item["kind"] for item in objects_of(eks_file("research"), region="us-west-2")}
    assert "Namespace" in kinds
    assert not {"PersistentVolume", "PersistentVolumeClaim"} & kinds


@pytest.mark.parametrize("level", ["privileged", "baseline", "restricted"])
def test_the_namespace_enforces_the_level_of_pod_security(level: str) -> None:
    [space, *_] = team_objects(*teams_of("research", pod_security=level))
    assert space["metadata"]["labels"] == {f"pod-security.kubernetes.io/{mode}": level for mode in ("enforce", "audit", "warn")}


def test_baseline_is_the_default() -> None:
    [space, *_] = team_objects(*teams_of("research"))
    assert space["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "baseline"


def test_a_team_reaches_only_its_namespace_and_the_nodes() -> None:
    objects = [
        *team_roles(teams_of("research", "vision")),
        *(each for team in teams_of("research") for each in team_objects(team)),
    ]
    [cluster_wide] = by_name(objects, "ClusterRoleBinding").values()
    assert cluster_wide["roleRef"]["name"] == "hyperpod-cdk-team-nodes"
    assert {subject["name"] for subject in cluster_wide["subjects"]} == {"hyperpod-cdk:team:research", "hyperpod-cdk:team:vision"}
    [bound] = by_name(objects, "RoleBinding").values()
    assert [(subject["kind"], subject["name"]) for subject in bound["subjects"]] == [("Group", team_group("research"))]
    assert bound["metadata"]["namespace"] == "hyperpod-ns-research"
    nodes = by_name(objects, "ClusterRole")["hyperpod-cdk-team-nodes"]
    assert {verb for each in nodes["rules"] for verb in each["verbs"]} == {"get", "list", "watch"}


def test_a_team_cannot_create_load_balancers_or_allow_itself_to() -> None:
    """A load balancer has a security group in the VPC, which CloudFormation could not delete."""
    [quota] = by_name(team_objects(*teams_of("research")), "ResourceQuota").values()
    assert quota["metadata"]["namespace"] == "hyperpod-ns-research"
    assert quota["spec"]["hard"] == {"services.loadbalancers": "0"}
    rules = [each for item in team_roles(teams_of("research")) if item["kind"] == "ClusterRole" for each in item["rules"]]
    assert "resourcequotas" not in {resource for each in rules for resource in each["resources"]}


def test_a_team_cannot_give_itself_rights() -> None:
    rules = [each for item in team_roles(teams_of("research")) if item["kind"] == "ClusterRole" for each in item["rules"]]
    resources = {resource for each in rules for resource in each["resources"]}
    assert not resources & {"*", "roles", "rolebindings", "serviceaccounts", "serviceaccounts/token", "namespaces", "nodes/proxy"}
    assert not {verb for each in rules for verb in each["verbs"]} & {"*", "bind", "escalate", "impersonate"}
    assert "rbac.authorization.k8s.io" not in {group for each in rules for group in each["apiGroups"]}
    [queues] = [each for each in rules if "localqueues" in each["resources"]]
    assert set(queues["verbs"]) == {"get", "list", "watch"}


def test_another_file_system_has_another_volume_and_claim() -> None:
    other = SharedFileSystem("fs-11111111", "fs-11111111.fsx.us-west-2.amazonaws.com", "mount2")
    names = [{item["metadata"]["name"] for item in file_system_objects(each, "space")} for each in (FILE_SYSTEM, other)]
    assert not names[0] & names[1]


def test_a_volume_belongs_to_one_claim_and_keeps_the_data() -> None:
    volume, claim = file_system_objects(FILE_SYSTEM, "hyperpod-ns-research")
    assert claim["spec"]["volumeName"] == volume["metadata"]["name"]
    reference = volume["spec"]["claimRef"]
    assert (reference["namespace"], reference["name"]) == (claim["metadata"]["namespace"], claim["metadata"]["name"])
    assert volume["spec"]["persistentVolumeReclaimPolicy"] == "Retain"
    assert volume["spec"]["csi"] == {
        "driver": "fsx.csi.aws.com",
        "volumeHandle": "fs-0123456789abcdef0",
        "volumeAttributes": {"dnsname": "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com", "mountname": "abcdefgh"},
    }
    # A default class of the cluster must not provision another volume.
    assert (claim["spec"]["storageClassName"], volume["spec"]["storageClassName"]) == ("", "")


def test_tokens_stay_whole_in_the_texts() -> None:
    token = "${Token[TOKEN.123]}"  # CDK inserts the value at the deployment
    properties = object_properties(file_system_objects(SharedFileSystem(token, token, token), "space"))
    assert set(properties) == {"ObjectPersistentVolumeFsxSpace", "ObjectPersistentVolumeClaimSpaceFsx"}
    text = json.dumps(properties)
    assert text.count("Token") == text.count(token) > 3
    deployed = json.loads(text.replace(token, "12345678"))["ObjectPersistentVolumeFsxSpace"]
    assert typed(deployed)["spec"]["csi"]["volumeAttributes"]["mountname"] == "12345678"


def test_the_most_teams_fit_into_an_update() -> None:
    limit = next(each.max_length for each in EksConfig.model_fields["teams"].metadata if hasattr(each, "max_length"))
    names = [f"{number:040}" for number in range(limit)]
    objects = objects_of(eks_file(*names), region="us-west-2", file_system=FILE_SYSTEM)
    properties = {"ClusterName": "eks", "Name": "hyperpod", **object_properties(objects)}
    assert len(Desired.of(properties).objects) == len(objects)
    event = {"ResourceProperties": properties, "OldResourceProperties": properties}
    assert len(json.dumps(event)) < MAX_EVENT - 10_000
