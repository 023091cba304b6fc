"""Create, update and delete of the dependencies without faults."""

import json
from typing import Any

import pytest

from cluster_resource.aws_api import ApiError
from cluster_resource.aws_api import Kind as AwsKind
from kubernetes_resource.eks_access import EksCluster
from tests.unit.kubernetes_resource.dependencies_world import CLUSTER, ID, INVENTORY, DependenciesWorld
from tests.unit.kubernetes_resource.objects import (
    account,
    config_map,
    custom,
    daemon_set,
    definition,
    names,
    namespace,
    role,
    standard,
)

Json = dict[str, Any]
LABELS = {"app.kubernetes.io/managed-by": "hyperpod-cdk", "hyperpod-cdk/inventory": "reference"}


def writes(world: DependenciesWorld) -> list[str]:
    paths = [(method, path.split("?")[0]) for method, path in world.server.calls if method != "GET"]
    return [f"{method} {path.rsplit('/', 1)[-1]}" for method, path in paths]


def test_a_creation_applies_all_objects_in_order_after_the_inventory(world: DependenciesWorld) -> None:
    done = world.do("Create", standard())
    assert (done["Status"], done["PhysicalResourceId"], done["Reason"]) == ("SUCCESS", ID, "applied 5 objects")
    assert done["Data"] == {"Result": "applied 5 objects", "KeptObjects": "none"}
    assert world.ours() == world.listed() == names(standard())
    kinds = [path.split("/")[-2] for method, path in world.server.calls if method in ("POST", "PATCH")]
    assert kinds == ["kube-system", "namespaces", "serviceaccounts", "clusterroles", "configmaps", "daemonsets"]


def test_an_aggregated_api_comes_after_its_workload_and_goes_before_it(world: DependenciesWorld) -> None:
    metadata = {"name": "v1beta1.metrics.k8s.io"}
    spec = {"service": {"name": "metrics-server", "namespace": "aws-hyperpod"}}
    service = {"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": metadata, "spec": spec}
    items = [service, daemon_set(), namespace()]
    assert world.do("Create", items)["Status"] == "SUCCESS"
    assert writes(world)[1:] == ["PATCH aws-hyperpod", "PATCH agent", "PATCH v1beta1.metrics.k8s.io"]
    world.server.calls.clear()
    assert world.do("Delete", items)["Status"] == "SUCCESS"
    assert writes(world)[:2] == ["DELETE v1beta1.metrics.k8s.io", "DELETE agent"]


def test_objects_carry_the_labels_and_keep_their_types(world: DependenciesWorld) -> None:
    world.do("Create", [namespace(), {**config_map(), "metadata": {**config_map()["metadata"], "labels": {"team": "ml"}}}])
    live = world.server.find("ConfigMap", "settings", "aws-hyperpod")
    assert live
    assert live["metadata"]["labels"] == {"team": "ml", **LABELS}
    world.do("Create", [definition(), custom()])
    assert (world.server.find("Job", "one", "default") or {})["spec"] == {"size": 3}


def test_an_unchanged_update_changes_nothing(world: DependenciesWorld) -> None:
    world.do("Create", standard())
    before = {key: stored.live["metadata"]["resourceVersion"] for key, stored in world.server.objects.items()}
    assert world.do("Update", standard(), standard())["Status"] == "SUCCESS"
    assert {key: stored.live["metadata"]["resourceVersion"] for key, stored in world.server.objects.items()} == before


def test_a_removed_field_is_removed_from_the_object(world: DependenciesWorld) -> None:
    world.do("Create", [namespace(), config_map(a="1", b="2")])
    world.do("Update", [namespace(), config_map(a="1")], [namespace(), config_map(a="1", b="2")])
    assert (world.server.find("ConfigMap", "settings", "aws-hyperpod") or {})["data"] == {"a": "1"}


def test_a_deletion_deletes_in_reverse_order_and_verifies(world: DependenciesWorld) -> None:
    world.do("Create", standard())
    world.server.calls.clear()
    done = world.do("Delete", standard())
    assert (done["Status"], done["Reason"], done["PhysicalResourceId"]) == ("SUCCESS", "all objects are deleted", ID)
    assert writes(world) == [
        "DELETE agent",
        "DELETE settings",
        "DELETE agent",
        "DELETE agent",
        "DELETE aws-hyperpod",
        f"DELETE {INVENTORY}",
    ]
    assert world.ours() == world.listed() == set()
    assert world.server.find("Namespace", "aws-hyperpod") is None


def test_custom_resources_wait_for_their_definition(world: DependenciesWorld) -> None:
    world.server.definitions_take_effect = False
    raw = world.request("Create", [custom(), definition()])
    world.deliver(raw)
    world.run(200)
    assert world.responses == {}
    assert world.ours() == {"CustomResourceDefinition jobs.example.com"}
    world.server.definitions_take_effect = True
    world.run(120)
    assert world.response(raw)["Status"] == "SUCCESS"
    assert world.ours() == names([custom(), definition()])


def test_a_definition_that_is_never_established_is_named(world: DependenciesWorld) -> None:
    world.server.definitions_take_effect = False
    reason = world.do("Create", [definition()])["Reason"]
    assert reason.startswith("CustomResourceDefinition jobs.example.com: not established yet; remove what blocks it")


def test_a_definition_whose_names_are_taken_fails(world: DependenciesWorld) -> None:
    world.server.definitions_take_effect = False
    raw = world.request("Create", [definition()])
    world.deliver(raw)
    world.run(40)
    live = world.server.find("CustomResourceDefinition", "jobs.example.com")
    assert live
    live["status"] = {"conditions": [{"type": "NamesAccepted", "status": "False", "message": '"jobs" is already in use'}]}
    world.run(60)
    assert world.response(raw)["Reason"].startswith('CustomResourceDefinition jobs.example.com: "jobs" is already in use; ')


def test_a_kind_that_is_no_longer_served_counts_as_gone(world: DependenciesWorld) -> None:
    world.do("Create", [definition(), custom()])
    for name in ("Job", "CustomResourceDefinition"):
        world.server.objects.pop(next(key for key, stored in world.server.objects.items() if stored.live["kind"] == name))
    del world.server.served["example.com/v1"]
    assert world.do("Update", [], [definition(), custom()])["Reason"] == "applied 0 objects; deleted 2"


def test_an_object_is_deleted_in_another_version_of_its_group(world: DependenciesWorld) -> None:
    world.do("Create", [daemon_set(), account(), namespace()])
    live = world.server.find("ConfigMap", INVENTORY, "kube-system")
    assert live
    live["data"]["objects"] = live["data"]["objects"].replace("apps/v1", "apps/v1beta9")
    world.do("Update", [account(), namespace()], [daemon_set(), account(), namespace()])
    assert world.server.find("DaemonSet", "agent", "aws-hyperpod") is None


def test_another_version_of_its_group_is_the_same_object(world: DependenciesWorld) -> None:
    world.do("Create", standard())
    before = (world.server.find("DaemonSet", "agent", "aws-hyperpod") or {})["metadata"]["uid"]
    live = world.server.find("ConfigMap", INVENTORY, "kube-system")
    assert live
    live["data"]["objects"] = live["data"]["objects"].replace("apps/v1", "apps/v1beta9")
    assert world.do("Update", standard(), standard())["Reason"] == "applied 5 objects"
    assert (world.server.find("DaemonSet", "agent", "aws-hyperpod") or {})["metadata"]["uid"] == before


def test_a_deleted_inventory_is_replaced_by_the_properties(world: DependenciesWorld) -> None:
    world.do("Create", standard())
    world.server.objects.pop(("", "configmaps", "kube-system", INVENTORY))
    assert world.do("Update", [namespace()], standard())["Reason"] == "applied 1 objects; deleted 4"
    world.server.objects.pop(("", "configmaps", "kube-system", INVENTORY))
    assert world.do("Delete", [namespace()])["Status"] == "SUCCESS"
    assert world.ours() == set()


def test_names_of_roles_can_have_characters_that_paths_escape(world: DependenciesWorld) -> None:
    """RBAC accepts every name without / and %."""
    items = [role(name) for name in ("system:agent", "a?b", "a b", "a#b", "rôle")]
    world.server.add(role("a"))
    assert world.do("Create", items)["Status"] == "SUCCESS"
    assert world.ours() == names(items)
    assert world.do("Delete", items)["Reason"] == "all objects are deleted"
    assert world.server.find("ClusterRole", "a")


@pytest.mark.parametrize(
    ("found", "kind", "status", "reason"),
    [
        (None, "Delete", "SUCCESS", "EKS cluster reference-eks does not exist"),
        (None, "Create", "FAILED", "ClusterName: EKS cluster reference-eks does not exist; create it first"),
        (
            EksCluster(CLUSTER, "DELETING", "https://api", ""),
            "Create",
            "FAILED",
            "ClusterName: EKS cluster reference-eks is DELETING; ",
        ),
        (EksCluster(CLUSTER, "FAILED", "", ""), "Create", "FAILED", "ClusterName: EKS cluster reference-eks is FAILED; "),
        (EksCluster(CLUSTER, "FAILED", "", ""), "Delete", "SUCCESS", "EKS cluster reference-eks is FAILED and has no API server"),
    ],
)
def test_eks_clusters_without_an_api_server(
    world: DependenciesWorld, found: EksCluster | None, kind: str, status: str, reason: str
) -> None:
    world.eks.found = found
    done = world.do(kind, standard())
    assert done["Status"] == status
    assert done["Reason"].startswith(reason)


def test_a_cluster_in_creation_is_waited_for(world: DependenciesWorld) -> None:
    ready, world.eks.found = world.eks.found, EksCluster(CLUSTER, "CREATING", "", "")
    raw = world.request("Create", standard())
    world.deliver(raw)
    world.run(600)
    world.eks.found = ready
    world.run(60)
    assert world.response(raw)["Status"] == "SUCCESS"


def test_a_throttled_describe_cluster_is_retried(world: DependenciesWorld) -> None:
    world.eks.error = ApiError(AwsKind.TRANSIENT, "DescribeCluster", "Throttling", "slow down")
    raw = world.request("Create", standard())
    world.deliver(raw)
    world.run(600)
    world.eks.error = None
    world.run(60)
    assert world.response(raw)["Status"] == "SUCCESS"


def test_a_missing_permission_of_the_function_fails_after_its_grace(world: DependenciesWorld) -> None:
    world.eks.error = ApiError(AwsKind.DENIED, "DescribeCluster", "AccessDeniedException", "not authorized")
    started = world.clock.now
    assert world.do("Create", standard())["Reason"] == "DescribeCluster: AccessDeniedException: not authorized"
    assert (world.clock.now - started).total_seconds() < 600


@pytest.mark.parametrize(
    ("properties", "reason"),
    [
        ({"Name": "A_b"}, "Name: 'A_b' is invalid; use at most 50 lowercase letters, digits and hyphens"),
        ({"ClusterName": ""}, "ClusterName: missing; name the EKS cluster"),
        ({"Objects": ["{"]}, "Objects[0]: not an object; pass an object, or its JSON text"),
        ({"Objects": [{"kind": "Pod"}]}, "Objects[0]: lacks apiVersion, kind or metadata.name; add them"),
        ({"ObjectPod": {"kind": "Pod"}}, "ObjectPod: lacks apiVersion, kind or metadata.name; add them"),
        ({"Objects": [json.dumps(namespace())] * 2}, "Objects: Namespace aws-hyperpod appears twice; remove one"),
    ],
)
def test_wrong_properties_are_refused_and_their_delete_succeeds(world: DependenciesWorld, properties: Json, reason: str) -> None:
    assert world.do("Create", [], **properties)["Reason"].startswith(reason)
    done = world.do("Delete", [], **properties)
    assert (done["Status"], world.server.names("hyperpod-cdk/inventory")) == ("SUCCESS", set())


def test_another_eks_cluster_gives_another_physical_id(world: DependenciesWorld) -> None:
    world.do("Create", standard())
    world.eks.found = EksCluster("other", "ACTIVE", "https://api", "PEM")
    done = world.do("Update", [], standard(), ClusterName="other")
    assert done["PhysicalResourceId"] == "other/reference"
    world.eks.found = None
    assert world.do("Update", [], standard(), ClusterName="third")["PhysicalResourceId"] == ID


@pytest.mark.fault(44)
def test_an_update_from_the_objects_of_an_older_release_changes_only_what_differs(world: DependenciesWorld) -> None:
    older: Json = {"Objects": [json.dumps(each) for each in standard()]}
    world.do("Create", [], **older)
    fewer = [each for each in standard() if each["kind"] != "ConfigMap"]
    raw = world.request("Update", fewer, standard())
    raw["OldResourceProperties"] = world.request("Create", [], **older)["ResourceProperties"]
    start = len(world.server.calls)
    assert world.finish(raw)["Status"] == "SUCCESS"
    assert world.ours() == names(fewer)
    assert [method for method, path in world.server.calls[start:] if method == "DELETE"] == ["DELETE"]
    assert world.do("Delete", [], **older)["Status"] == "SUCCESS"
    assert world.ours() == set()
