"""Each error of the API is named: the object, the problem and the fix."""

import http.client
import ssl
from typing import Any

import pytest

from tests.unit.cluster_resource.calls_world import minutes
from tests.unit.kubernetes_resource.api_server import Place
from tests.unit.kubernetes_resource.dependencies_world import INVENTORY, DependenciesWorld
from tests.unit.kubernetes_resource.objects import account, custom, daemon_set, names, namespace, role, standard
from tests.unit.kubernetes_resource.refusals import Refusal

Json = dict[str, Any]


def refuse(world: DependenciesWorld, verb: str, plural: str, refusal: Refusal) -> None:
    def check(method: str, place: Place) -> None:
        if (method, place.plural) == (verb, plural):
            raise refusal

    world.server.on_call = check


@pytest.mark.fault(87)
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


QUOTA_TEXTS = [
    "exceeded quota: no-load-balancers, requested: services.loadbalancers=1, used: services.loadbalancers=0, limited: "
    "services.loadbalancers=0",
    "failed quota: compute: must specify limits.cpu for: agent",
    "status unknown for quota: compute, resources: count/configmaps",
]


@pytest.mark.parametrize("text", QUOTA_TEXTS)
def test_a_resource_quota_that_refuses_an_object_is_named(world: DependenciesWorld, text: str) -> None:
    refuse(world, "PATCH", "configmaps", Refusal(403, "Forbidden", f'configmaps "settings" is forbidden: {text}'))
    assert world.do("Create", standard())["Reason"] == (
        f'ConfigMap aws-hyperpod/settings: configmaps "settings" is forbidden: {text}; '
        "raise the ResourceQuota or delete objects that it counts, then deploy again"
    )
    assert 1.5 < minutes(world) < 4


def test_a_resource_quota_may_take_a_minute_to_count_deleted_objects(world: DependenciesWorld) -> None:
    refuse(world, "PATCH", "configmaps", Refusal(403, "Forbidden", f'configmaps "settings" is forbidden: {QUOTA_TEXTS[0]}'))
    raw = world.deliver(world.request("Create", standard()))
    world.run(90)
    world.server.on_call = lambda _method, _place: None
    world.run(60)
    assert world.response(raw)["Status"] == "SUCCESS"


@pytest.mark.fault(86)
def test_an_access_entry_may_take_minutes(world: DependenciesWorld) -> None:
    world.server.is_authenticated = False
    raw = world.request("Create", standard())
    world.deliver(raw)
    world.run(240)
    world.server.is_authenticated = True
    world.run(60)
    assert world.response(raw)["Status"] == "SUCCESS"


def test_the_grace_begins_again_after_a_step_without_an_error(world: DependenciesWorld) -> None:
    world.do("Create", standard())
    world.server.edit("DaemonSet", "agent", lambda live: live["metadata"].update(finalizers=["example.com/hold"]), "aws-hyperpod")
    raw = world.deliver(world.request("Delete", standard()))
    for is_authenticated in (False, True, False, True):
        world.server.is_authenticated = is_authenticated
        world.run(250)
    assert raw["RequestId"] not in world.responses


@pytest.mark.fault(86)
@pytest.mark.parametrize("kind", ["Create", "Delete"])
def test_unauthorized_is_named_after_minutes(world: DependenciesWorld, kind: str) -> None:
    world.server.is_authenticated = False
    done = world.do(kind, standard())
    assert done["Reason"] == (
        f"ConfigMap kube-system/{INVENTORY}: Unauthorized; create the access entry of the function's role, then deploy again"
    )
    assert 5 < minutes(world) < 7


@pytest.mark.fault(85)
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


@pytest.mark.fault(89)
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
