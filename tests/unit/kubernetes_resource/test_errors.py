"""Each error of the API is named: the object, the problem and the fix."""

import http.client
import ssl
from collections.abc import Callable
from typing import Any

import pytest

from kubernetes_resource.objects import INVENTORY_LABEL, MANAGED_BY
from tests.unit.kubernetes_resource.api_server import Place, Refusal
from tests.unit.kubernetes_resource.dependencies_world import (
    INVENTORY,
    DependenciesWorld,
    account,
    config_map,
    custom,
    daemon_set,
    names,
    namespace,
    role,
    standard,
)

Json = dict[str, Any]
PODS = {"group": "", "version": "v1"}


def refuse(world: DependenciesWorld, verb: str, plural: str, refusal: Refusal) -> None:
    def check(method: str, place: Place) -> None:
        if (method, place.plural) == (verb, plural):
            raise refusal

    world.server.on_call = check


def set_image(image: str) -> Callable[[Json], None]:
    def change(live: Json) -> None:
        live["spec"]["template"]["spec"]["containers"][0]["image"] = image

    return change


def minutes(world: DependenciesWorld) -> float:
    executions = list(world.states.executions.values())
    return (world.clock.now - executions[-1].started).total_seconds() / 60


def test_a_conflict_names_the_field_and_the_manager(world: DependenciesWorld) -> None:
    world.do("Create", standard())
    world.server.edit("DaemonSet", "agent", set_image("agent:debug"), "aws-hyperpod", "kubectl-edit")
    done = world.do("Update", standard(), standard())
    assert done["Reason"] == (
        'DaemonSet aws-hyperpod/agent: conflict: .spec.template.spec.containers[name="agent"].image belongs to kubectl-edit; '
        "remove the field from the object, or list the manager under TakeOver"
    )
    assert minutes(world) < 2


def test_a_named_manager_is_taken_over(world: DependenciesWorld) -> None:
    world.do("Create", standard())
    world.server.edit("DaemonSet", "agent", set_image("agent:debug"), "aws-hyperpod", "kubectl-edit")
    assert world.do("Update", standard(), standard(), TakeOver=["kubectl-edit"])["Status"] == "SUCCESS"
    live = world.server.find("DaemonSet", "agent", "aws-hyperpod")
    assert live
    assert live["spec"]["template"]["spec"]["containers"][0]["image"] == "agent:1"


def test_only_named_managers_are_taken_over(world: DependenciesWorld) -> None:
    world.do("Create", [namespace(), config_map(a="1", b="2")])
    world.server.edit("ConfigMap", "settings", lambda live: live["data"].update(a="x"), "aws-hyperpod", "helm")
    world.server.edit("ConfigMap", "settings", lambda live: live["data"].update(b="y"), "aws-hyperpod", "argocd")
    done = world.do("Update", [namespace(), config_map(a="1", b="2")], [], TakeOver=["helm"])
    assert ".data.a belongs to helm, .data.b belongs to argocd; " in done["Reason"]


def test_an_object_of_another_owner_is_refused_and_survives_the_rollback(world: DependenciesWorld) -> None:
    labels = {"name": "agent", "labels": {MANAGED_BY: "Helm"}}
    world.server.add({**role(), "metadata": labels}, "helm")
    done = world.do("Create", standard(), TakeOver=["helm"])
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


def test_an_object_that_changes_hands_between_read_and_delete_survives(world: DependenciesWorld) -> None:
    world.do("Create", standard())

    def take(method: str, place: Place) -> None:
        live = world.server.find("ClusterRole", "agent")
        if method == "DELETE" and place.plural == "clusterroles" and live and live["metadata"]["labels"][MANAGED_BY] != "Helm":
            world.server.edit("ClusterRole", "agent", lambda each: each["metadata"]["labels"].update({MANAGED_BY: "Helm"}))

    world.server.on_call = take
    assert "ClusterRole agent is kept" in world.do("Delete", standard())["Reason"]
    assert world.server.find("ClusterRole", "agent")


@pytest.mark.parametrize("status", [400, 403])
def test_a_denial_of_a_webhook_is_final(world: DependenciesWorld, status: int) -> None:
    text = 'admission webhook "policy.example.com" denied the request: images need a digest'
    refuse(world, "PATCH", "daemonsets", Refusal(status, "Forbidden", text))
    done = world.do("Create", standard())
    assert done["Reason"] == f"DaemonSet aws-hyperpod/agent: {text}; change the object, or exempt it in the policy of the webhook"
    assert minutes(world) < 2


def test_a_webhook_that_cannot_be_called_is_retried(world: DependenciesWorld) -> None:
    text = 'failed calling webhook "policy.example.com": connection refused'
    refuse(world, "PATCH", "daemonsets", Refusal(500, "InternalError", text))
    raw = world.request("Create", standard())
    world.deliver(raw)
    world.run(900)
    world.server.on_call = lambda _method, _place: None
    world.run(60)
    assert world.response(raw)["Status"] == "SUCCESS"


def test_forbidden_is_retried_for_minutes_then_named(world: DependenciesWorld) -> None:
    text = 'clusterroles is forbidden: User "step" cannot patch resource'
    refuse(world, "PATCH", "clusterroles", Refusal(403, "Forbidden", text))
    done = world.do("Create", standard())
    assert done["Reason"].startswith(f"ClusterRole agent: {text}; associate AmazonEKSClusterAdminPolicy with the access entry")
    assert 5 < minutes(world) < 7


def test_an_access_entry_may_take_minutes(world: DependenciesWorld) -> None:
    world.server.is_authenticated = False
    raw = world.request("Create", standard())
    world.deliver(raw)
    world.run(240)
    world.server.is_authenticated = True
    world.run(60)
    assert world.response(raw)["Status"] == "SUCCESS"


@pytest.mark.parametrize("kind", ["Create", "Delete"])
def test_unauthorized_is_named_after_minutes(world: DependenciesWorld, kind: str) -> None:
    world.server.is_authenticated = False
    done = world.do(kind, standard())
    assert done["Reason"] == (
        f"ConfigMap kube-system/{INVENTORY}: Unauthorized; create the access entry of the function's role, then deploy again"
    )
    assert 5 < minutes(world) < 7


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (TimeoutError("timed out"), "the API server does not answer (TimeoutError: timed out)"),
        (ConnectionRefusedError("refused"), "the API server does not answer (ConnectionRefusedError: refused)"),
        (http.client.RemoteDisconnected("closed"), "the API server does not answer (RemoteDisconnected: closed)"),
    ],
)
@pytest.mark.parametrize("kind", ["Create", "Delete"])
def test_an_api_server_that_is_away_is_retried_until_the_deadline(
    world: DependenciesWorld, error: Exception, text: str, kind: str
) -> None:
    world.server.down = error
    done = world.do(kind, standard())
    assert done["Status"] == "FAILED"
    assert done["Reason"].startswith(f"ConfigMap kube-system/{INVENTORY}: {text}; check the endpoint access, ")
    assert done["Reason"].endswith(" (stopped after 57 minutes)")
    assert 57 <= minutes(world) < 59


def test_an_api_server_that_returns_lets_the_delete_continue(world: DependenciesWorld) -> None:
    world.do("Create", standard())
    world.server.down = TimeoutError("timed out")
    raw = world.request("Delete", standard())
    world.deliver(raw)
    world.run(3000)
    world.server.down = None
    world.run(60)
    assert world.response(raw)["Reason"] == "all objects are deleted"
    assert world.ours() == set()


def test_another_certificate_is_named(world: DependenciesWorld) -> None:
    error = ssl.SSLCertVerificationError(1, "certificate verify failed")
    error.verify_message = "self-signed certificate"
    world.server.down = error
    done = world.do("Create", standard())
    assert "certificate is not from the EKS cluster's authority (self-signed certificate); remove the proxy" in done["Reason"]
    assert minutes(world) < 4


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_overload_and_outages_are_retried(world: DependenciesWorld, status: int) -> None:
    for number in range(len(world.server.calls), 60, 7):
        world.server.before[number] = (status, {"message": "later"})
    assert world.do("Create", standard())["Status"] == "SUCCESS"
    assert world.ours() == world.listed() == names(standard())


def test_a_finalizer_that_blocks_a_deletion_is_named(world: DependenciesWorld) -> None:
    world.do("Create", standard())
    world.server.edit("DaemonSet", "agent", lambda live: live["metadata"].update(finalizers=["example.com/hold"]), "aws-hyperpod")
    done = world.do("Delete", standard())
    assert done["Reason"] == (
        "DaemonSet aws-hyperpod/agent: being deleted (finalizers example.com/hold); "
        "remove what blocks it, then delete again (stopped after 57 minutes)"
    )
    assert 57 <= minutes(world) < 59
    world.server.edit("DaemonSet", "agent", lambda live: live["metadata"].update(finalizers=[]), "aws-hyperpod")
    assert world.do("Delete", standard())["Reason"] == "all objects are deleted"


def test_a_namespace_that_does_not_end_shows_why(world: DependenciesWorld) -> None:
    world.do("Create", [namespace()])
    owned = {"name": "pod", "namespace": "aws-hyperpod", "finalizers": ["example.com/hold"], "ownerReferences": [{"kind": "Job"}]}
    world.server.add({"apiVersion": "v1", "kind": "Pod", "metadata": owned})
    reason = world.do("Delete", [namespace()])["Reason"]
    assert reason.startswith("Namespace aws-hyperpod: being deleted (finalizers ")
    assert "Some content in the namespace has finalizers remaining: example.com/hold" in reason


def test_a_terminating_namespace_is_waited_for(world: DependenciesWorld) -> None:
    held = {"name": "old", "namespace": "aws-hyperpod", "finalizers": ["example.com/hold"]}
    world.server.add(namespace())
    world.server.add({"apiVersion": "v1", "kind": "Pod", "metadata": held})
    live = world.server.find("Namespace", "aws-hyperpod")
    assert live
    live["metadata"].update(deletionTimestamp="2026-11-21T09:00:00Z", finalizers=["kubernetes"])
    raw = world.request("Create", standard())
    world.deliver(raw)
    world.run(600)
    assert world.responses == {}
    world.server.edit("Pod", "old", lambda each: each["metadata"].update(finalizers=[]), "aws-hyperpod")
    world.run(60)
    assert world.response(raw)["Status"] == "SUCCESS"


def test_a_namespace_that_terminates_outside_the_objects_is_named(world: DependenciesWorld) -> None:
    held = {"name": "old", "namespace": "other", "finalizers": ["example.com/hold"]}
    world.server.add(namespace("other"))
    world.server.add({"apiVersion": "v1", "kind": "Pod", "metadata": held})
    live = world.server.find("Namespace", "other")
    assert live
    live["metadata"].update(deletionTimestamp="2026-11-21T09:00:00Z", finalizers=["kubernetes"])
    reason = world.do("Create", [account(space="other")])["Reason"]
    assert reason.startswith('ServiceAccount other/agent: serviceaccounts "agent" is forbidden: unable to create new content')
    assert "; wait until the namespace is deleted, or remove the finalizers" in reason
    assert reason.endswith("(stopped after 57 minutes)")


def test_a_missing_namespace_is_named(world: DependenciesWorld) -> None:
    reason = world.do("Create", [account()])["Reason"]
    assert reason == (
        'ServiceAccount aws-hyperpod/agent: namespaces "aws-hyperpod" not found; add its namespace to the objects, or create it'
    )


def test_an_immutable_field_is_named(world: DependenciesWorld) -> None:
    world.do("Create", standard())
    changed = [daemon_set(app="other"), *standard()[1:]]
    reason = world.do("Update", changed, standard())["Reason"]
    assert reason.startswith('DaemonSet aws-hyperpod/agent: DaemonSet "agent" is invalid: spec.selector: Invalid value: field is')
    assert reason.endswith("if the field is immutable, delete the object and deploy again")
    assert world.do("Update", standard(), changed)["Status"] == "SUCCESS"


def test_an_unknown_kind_is_named(world: DependenciesWorld) -> None:
    reason = world.do("Create", [custom()])["Reason"]
    assert reason.startswith("Job default/one: the EKS cluster does not serve kind Job of example.com/v1; correct the object")


def test_a_wrong_scope_is_named(world: DependenciesWorld) -> None:
    lost = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "lost"}}
    assert world.do("Create", [lost])["Reason"].startswith("ServiceAccount lost: metadata.namespace is missing; ")
    wide = {**role(), "metadata": {"name": "wide", "namespace": "default"}}
    assert world.do("Create", [wide])["Reason"].startswith(
        "ClusterRole default/wide: metadata.namespace is set, but the kind is cluster-wide; "
    )


def test_a_broken_inventory_is_named(world: DependenciesWorld) -> None:
    world.do("Create", standard())
    live = world.server.find("ConfigMap", INVENTORY, "kube-system")
    assert live
    live["data"] = {"objects": "[1"}
    reason = world.do("Delete", standard())["Reason"]
    assert reason == (
        f"ConfigMap kube-system/{INVENTORY}: data.objects is not a list of objects; "
        "restore it, or delete the ConfigMap and the objects with its label"
    )


def test_an_answer_that_is_no_json_is_retried(world: DependenciesWorld) -> None:
    transport = world.server.__call__
    answers = iter([(502, b"<html>bad gateway</html>"), (200, b"[]"), (404, b"<html>not found</html>")])

    class Proxy(type(world.server)):  # type: ignore[misc]
        def __call__(self, *request: Any) -> tuple[int, bytes]:
            return next(answers, None) or transport(*request)

    world.server.__class__ = Proxy
    assert world.do("Create", standard())["Status"] == "SUCCESS"
