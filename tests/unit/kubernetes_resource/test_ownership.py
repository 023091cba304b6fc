"""Objects and fields of other owners: named and kept."""

from collections.abc import Callable
from typing import Any

import pytest

from kubernetes_resource.objects import INVENTORY_LABEL, MANAGED_BY
from tests.unit.cluster_resource.calls_world import minutes
from tests.unit.kubernetes_resource.api_server import Place
from tests.unit.kubernetes_resource.dependencies_world import ID, INVENTORY, DependenciesWorld
from tests.unit.kubernetes_resource.objects import config_map, names, namespace, role, standard

Json = dict[str, Any]


def set_image(image: str) -> Callable[[Json], None]:
    def change(live: Json) -> None:
        live["spec"]["template"]["spec"]["containers"][0]["image"] = image

    return change


@pytest.mark.fault(88)
def test_a_conflict_names_the_field_and_the_manager(world: DependenciesWorld) -> None:
    world.do("Create", standard())
    world.server.edit("DaemonSet", "agent", set_image("agent:debug"), "aws-hyperpod", "kubectl-edit")
    done = world.do("Update", standard(), standard())
    assert done["Reason"] == (
        'DaemonSet aws-hyperpod/agent: conflict: .spec.template.spec.containers[name="agent"].image belongs to kubectl-edit; '
        "set the field to the template's value or remove it, then deploy again"
    )
    assert minutes(world) < 2
    world.server.edit("DaemonSet", "agent", set_image("agent:1"), "aws-hyperpod", "kubectl-edit")
    assert world.do("Update", standard(), standard())["Status"] == "SUCCESS"


def test_a_conflict_names_every_manager(world: DependenciesWorld) -> None:
    world.do("Create", [namespace(), config_map(a="1", b="2")])
    world.server.edit("ConfigMap", "settings", lambda live: live["data"].update(a="x"), "aws-hyperpod", "helm")
    world.server.edit("ConfigMap", "settings", lambda live: live["data"].update(b="y"), "aws-hyperpod", "argocd")
    done = world.do("Update", [namespace(), config_map(a="1", b="2")], [])
    assert ".data.a belongs to helm, .data.b belongs to argocd; " in done["Reason"]


def test_an_object_of_another_owner_is_refused_and_survives_the_rollback(world: DependenciesWorld) -> None:
    labels = {"name": "agent", "labels": {MANAGED_BY: "Helm"}}
    world.server.add({**role(), "metadata": labels}, "helm")
    done = world.do("Create", standard())
    assert done["Reason"].startswith("ClusterRole agent: exists and belongs to Helm; delete it, or set its labels ")
    assert world.do("Delete", standard())["Reason"] == "ClusterRole agent is kept: it belongs to Helm"
    assert world.server.find("ClusterRole", "agent")


def test_an_object_that_is_labelled_by_hand_is_adopted(world: DependenciesWorld) -> None:
    labels = {MANAGED_BY: "hyperpod-cdk", INVENTORY_LABEL: "reference"}
    world.server.add({**role(), "metadata": {"name": "agent", "labels": labels}}, "helm")
    assert world.do("Create", standard())["Status"] == "SUCCESS"


def test_an_object_of_another_inventory_is_refused(world: DependenciesWorld) -> None:
    world.do("Create", standard())
    raw = world.request("Create", standard(), Name="other")
    done = world.finish({**raw, "LogicalResourceId": "Other"})
    assert done["Reason"].startswith("Namespace aws-hyperpod: exists and belongs to inventory reference; ")


def test_an_inventory_of_another_resource_is_refused_and_not_deleted(world: DependenciesWorld) -> None:
    world.do("Create", standard())
    raw = {**world.request("Create", standard()), "LogicalResourceId": "Other"}
    assert world.finish(raw)["Reason"].startswith(
        f"ConfigMap kube-system/{INVENTORY}: belongs to resource Dependencies of stack "
    )
    world.clock.advance(300)
    raw = {**world.request("Delete", standard()), "LogicalResourceId": "Other"}
    done = world.finish(raw)
    assert done["Status"] == "SUCCESS"
    assert done["Reason"].startswith("not deleted: ")
    assert world.ours() == names(standard())


@pytest.mark.parametrize("kind", ["Update", "Delete"])
def test_an_object_that_changed_its_owner_is_not_deleted(world: DependenciesWorld, kind: str) -> None:
    world.do("Create", standard())

    def take(live: Json) -> None:
        live["metadata"]["labels"][MANAGED_BY] = "Helm"
        del live["metadata"]["labels"][INVENTORY_LABEL]

    world.server.edit("ClusterRole", "agent", take, manager="helm")
    rest = [each for each in standard() if each["kind"] != "ClusterRole"]
    done = world.do(kind, rest if kind == "Update" else standard(), standard() if kind == "Update" else None)
    assert done["Reason"].endswith("ClusterRole agent is kept: it belongs to Helm")
    assert world.server.find("ClusterRole", "agent")
    assert "ClusterRole agent" not in world.listed()


def test_an_object_that_is_replaced_between_read_and_apply_survives(world: DependenciesWorld) -> None:
    world.do("Create", standard())
    ours = (world.server.find("ClusterRole", "agent") or {})["metadata"]["uid"]

    def replace(method: str, place: Place) -> None:
        live = world.server.find("ClusterRole", "agent")
        if method == "PATCH" and place.plural == "clusterroles" and live and live["metadata"]["uid"] == ours:
            del world.server.objects[place.key]
            world.server.add(role(), "helm")

    world.server.on_call = replace
    assert world.do("Update", standard(), standard())["Reason"].startswith("ClusterRole agent: exists and belongs to helm; ")
    assert (world.server.find("ClusterRole", "agent") or {})["metadata"].get("labels") is None


def test_a_changed_name_is_refused_and_rolled_back(world: DependenciesWorld) -> None:
    world.do("Create", standard())
    world.clock.advance(300)
    raw = {**world.request("Update", standard(), standard(), Name="other"), "PhysicalResourceId": ID}
    done = world.finish(raw)
    assert (done["Status"], done["PhysicalResourceId"], done["Reason"]) == (
        "FAILED",
        ID,
        "Name: changed from reference to other, but the objects have it as a label; keep reference",
    )
    world.clock.advance(300)
    back = {**world.request("Update", standard(), standard()), "OldResourceProperties": raw["ResourceProperties"]}
    assert world.finish(back)["Status"] == "SUCCESS"
    assert world.ours() == names(standard())


def test_an_object_that_changes_hands_between_read_and_delete_survives(world: DependenciesWorld) -> None:
    world.do("Create", standard())

    def take(method: str, place: Place) -> None:
        live = world.server.find("ClusterRole", "agent")
        if method == "DELETE" and place.plural == "clusterroles" and live and live["metadata"]["labels"][MANAGED_BY] != "Helm":
            world.server.edit("ClusterRole", "agent", lambda each: each["metadata"]["labels"].update({MANAGED_BY: "Helm"}))

    world.server.on_call = take
    assert "ClusterRole agent is kept" in world.do("Delete", standard())["Reason"]
    assert world.server.find("ClusterRole", "agent")
