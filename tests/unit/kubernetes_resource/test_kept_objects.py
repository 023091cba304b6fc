"""Namespaces and definitions that hold objects of others are kept."""

from typing import Any

import pytest

from tests.unit.kubernetes_resource.dependencies_world import DependenciesWorld
from tests.unit.kubernetes_resource.objects import config_map, cron_job, custom, definition, names, namespace, role, standard


def test_a_definition_with_custom_resources_of_users_is_kept(world: DependenciesWorld) -> None:
    world.do("Create", [definition()])
    world.server.add(custom("mine"))
    done = world.do("Delete", [definition()])
    assert (done["Status"], done["Reason"]) == (
        "SUCCESS",
        "CustomResourceDefinition jobs.example.com is kept: it holds Job mine",
    )
    assert world.server.find("Job", "mine", "default")


def test_a_definition_goes_with_its_own_custom_resources(world: DependenciesWorld) -> None:
    world.do("Create", [definition(), custom()])
    assert world.do("Delete", [definition(), custom()])["Reason"] == "all objects are deleted"
    assert world.server.find("CustomResourceDefinition", "jobs.example.com") is None


@pytest.mark.parametrize("kind", ["ConfigMap", "Job"])
def test_objects_that_go_anyway_keep_neither_their_namespace_nor_their_definition(world: DependenciesWorld, kind: str) -> None:
    holder, held = (namespace(), config_map("mine")) if kind == "ConfigMap" else (definition(), custom("mine"))
    world.do("Create", [holder])
    world.server.add({**held, "metadata": {**held["metadata"], "ownerReferences": [{"kind": "X"}]}})
    assert world.do("Delete", [holder])["Reason"] == "all objects are deleted"


@pytest.mark.parametrize("kind", ["ConfigMap", "Job"])
def test_an_object_that_is_being_deleted_does_not_keep_its_namespace_or_its_definition(
    world: DependenciesWorld, kind: str
) -> None:
    holder, held = (namespace(), config_map("mine")) if kind == "ConfigMap" else (definition(), custom("mine"))
    world.do("Create", [holder])
    ends = {"deletionTimestamp": "2026-11-28T00:00:00Z", "finalizers": ["example.com/slow"]}
    world.server.add({**held, "metadata": {**held["metadata"], **ends}})
    assert "it holds" not in world.do("Delete", [holder])["Reason"]


def test_a_namespace_that_holds_objects_of_others_is_kept(world: DependenciesWorld) -> None:
    world.do("Create", standard())
    for name in ("a", "b", "c", "d"):
        world.server.add({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "aws-hyperpod"}})
    done = world.do("Delete", standard())
    assert done["Reason"] == "Namespace aws-hyperpod is kept: it holds Pod a, Pod b, Pod c and more"
    assert world.ours() == {"Namespace aws-hyperpod"}
    assert world.listed() == set()
    assert world.do("Create", standard())["Status"] == "SUCCESS"


def test_an_object_of_a_kind_outside_the_preferred_version_keeps_its_namespace(world: DependenciesWorld) -> None:
    world.do("Create", [namespace()])
    world.server.add(cron_job())
    assert world.do("Delete", [namespace()])["Reason"] == "Namespace aws-hyperpod is kept: it holds CronJob mine"
    assert world.server.find("CronJob", "mine", "aws-hyperpod")


def test_a_kind_in_two_versions_is_listed_once(world: DependenciesWorld) -> None:
    world.do("Create", [namespace()])
    world.server.served["batch/v1"].append(("CronJob", "cronjobs", True))
    world.server.add(cron_job())
    assert world.do("Delete", [namespace()])["Reason"] == "Namespace aws-hyperpod is kept: it holds CronJob mine"


def test_a_definition_without_a_served_version_is_kept(world: DependenciesWorld) -> None:
    world.do("Create", [definition()])
    world.server.add(custom("mine"))
    name = "jobs.example.com"
    world.server.edit("CustomResourceDefinition", name, lambda live: live["spec"]["versions"][0].update(served=False))
    assert world.do("Delete", [definition()])["Reason"] == (
        f"CustomResourceDefinition {name} is kept: none of its versions is served, so its objects cannot be listed"
    )
    assert world.server.find("Job", "mine", "default")


def test_listing_stops_when_enough_is_known(world: DependenciesWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kubernetes_resource.session.PAGE", 1)
    world.do("Create", [namespace()])
    for number in range(20):
        world.server.add(config_map(f"map-{number:02}"))
    reason = world.do("Delete", [namespace()])["Reason"]
    assert reason == "Namespace aws-hyperpod is kept: it holds ConfigMap map-00, ConfigMap map-01, ConfigMap map-02 and more"
    assert sum("aws-hyperpod/configmaps?" in path for _, path in world.server.calls) == 5  # kube-root-ca.crt and four others


def test_what_controllers_create_does_not_keep_a_namespace(world: DependenciesWorld) -> None:
    world.do("Create", [namespace()])
    inside = {"namespace": "aws-hyperpod"}
    token = {"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/service-account-token"}
    annotations = {"kubernetes.io/service-account.name": "default"}
    world.server.add({**token, "metadata": {"name": "default-token", "annotations": annotations, **inside}})
    world.server.add({"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e", **inside}})
    world.server.served["kueue.x-k8s.io/v1beta1"] = [("LocalQueue", "localqueues", True)]
    world.server.add({"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "LocalQueue", "metadata": {"name": "queue", **inside}})
    owned = {"name": "agent-1", "ownerReferences": [{"kind": "DaemonSet"}], **inside}
    world.server.add({"apiVersion": "v1", "kind": "Pod", "metadata": owned})
    assert world.do("Delete", [namespace()])["Reason"] == "all objects are deleted"


def test_a_kept_namespace_is_pruned_later(world: DependenciesWorld) -> None:
    world.do("Create", [namespace(), role()])
    world.server.add(config_map("mine"))
    done = world.do("Update", [role()], [namespace(), role()])
    assert done["Reason"] == "applied 1 objects; Namespace aws-hyperpod is kept: it holds ConfigMap mine"
    assert done["Data"]["KeptObjects"] == "Namespace aws-hyperpod is kept: it holds ConfigMap mine"
    assert world.listed() == names([namespace(), role()])
    world.server.objects.pop(next(key for key in world.server.objects if key[3] == "mine"))
    done = world.do("Update", [role()], [role()])
    assert (done["Reason"], done["Data"]["KeptObjects"]) == ("applied 1 objects; deleted 1", "none")
    assert world.listed() == names([role()])


def test_many_full_namespaces_are_examined_over_several_steps(world: DependenciesWorld) -> None:
    spaces = [namespace(f"team-{number}") for number in range(40)]
    world.do("Create", spaces)
    for each in spaces:
        world.server.add(config_map("mine", each["metadata"]["name"]))
    begun: dict[int, int] = {}

    def seconds() -> float:
        """Return the time left in a step whose calls take 0.2 s each."""
        calls = len(world.server.calls)
        return 59 - 0.2 * (calls - begun.setdefault(world.eks.opened, calls))

    world.seconds = seconds
    done = world.do("Delete", spaces)
    assert done["Status"] == "SUCCESS"
    assert done["Reason"].startswith("Namespace team-0 is kept: it holds ConfigMap mine; Namespace team-1 is kept")
    assert len(begun) > 2


@pytest.mark.fault(32)
@pytest.mark.parametrize(
    "letter", ["x", "\U0001f600", '"', "\x07", "\ud800"], ids=["ascii", "four-bytes", "quote", "bell", "half"]
)
def test_the_names_of_many_owners_do_not_make_the_response_too_long(world: DependenciesWorld, letter: str) -> None:
    roles = [role(f"role-{number:02}") for number in range(20)]
    world.do("Create", roles)
    for each in roles:
        world.server.edit("ClusterRole", each["metadata"]["name"], _hand_over, manager=100 * letter)
    done = world.do("Delete", roles)  # the world checks the response's size
    assert done["Status"] == "SUCCESS"
    assert done["Data"]["Result"].startswith("ClusterRole role-00 is kept: it belongs to ")
    assert done["Data"]["Result"].endswith("... (cut)")


@pytest.mark.fault(32)
@pytest.mark.parametrize("letter", ["x", "\U0001f600", '"', "\x07"], ids=["ascii", "four-bytes", "quote", "bell"])
def test_the_attribute_of_many_kept_objects_fits_into_the_response_and_an_output(world: DependenciesWorld, letter: str) -> None:
    roles = [role(f"role-{number:02}") for number in range(20)]
    world.do("Create", roles)
    for each in roles:
        world.server.edit("ClusterRole", each["metadata"]["name"], _hand_over, manager=100 * letter)
    kept = world.do("Update", [role()], [role(), *roles])["Data"]["KeptObjects"]  # the world checks the response's size
    assert kept.startswith("ClusterRole role-00 is kept: it belongs to ")
    assert kept.endswith("... (cut)")
    assert len(kept.encode()) <= 1024


def _hand_over(live: dict[str, Any]) -> None:
    live["metadata"].pop("labels")
