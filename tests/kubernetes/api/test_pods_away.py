"""What the real API server replies while pods that it needs are away, and for names that paths escape."""

import base64
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from kubernetes_resource.client import KubernetesClient
from kubernetes_resource.discovery import Discovery
from kubernetes_resource.errors import Kind, KubernetesError
from local_aws.kubernetes.client import Client
from local_aws.kubernetes.control_plane import ControlPlane
from tests.kubernetes.api.test_dependencies import ContractWorld
from tests.kubernetes.webhook import Webhook
from tests.unit.kubernetes_resource.api_server import TOKEN
from tests.unit.kubernetes_resource.objects import config_map, custom, definition, namespace, role

Json = dict[str, Any]
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
HOOKS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"


@pytest.fixture
def world(plane: ControlPlane, webhook: Webhook) -> ContractWorld:
    webhook.users[TOKEN] = {"username": "step", "groups": ["system:masters"]}
    return ContractWorld(plane)


@pytest.fixture
def client(world: ContractWorld) -> Iterator[KubernetesClient]:
    with closing(world.client()) as client:
        yield client


def away(plane: ControlPlane) -> Json:
    """Return how the API server calls a webhook that is not there."""
    return {"url": "https://127.0.0.1:1/hook", "caBundle": base64.b64encode(plane.certificate_authority.encode()).decode()}


def test_a_namespace_is_kept_while_its_objects_cannot_be_converted(
    world: ContractWorld, plane: ControlPlane, admin: Client
) -> None:
    item = definition("Converted")
    versions = item["spec"]["versions"]
    item["spec"]["versions"] = [*versions, {**versions[0], "name": "v2", "storage": False}]
    hook = {"clientConfig": away(plane), "conversionReviewVersions": ["v1"]}
    item["spec"]["conversion"] = {"strategy": "Webhook", "webhook": hook}
    mine = {**custom("mine", world.space), "kind": "Converted"}
    assert world.send_all("Create", [namespace(world.space), item])["Status"] == "SUCCESS"
    path = f"/apis/example.com/v1/namespaces/{world.space}/converteds"
    assert admin.call("POST", path, mine).status == 201
    reason = world.send_all("Delete", [namespace(world.space), item])["Reason"]
    assert f"Namespace {world.space} is kept: its objects cannot be listed: " in reason
    assert "; restore the pods of the webhook, or delete its configuration, then deploy again" in reason
    change = {"spec": {"conversion": None}}
    name = item["metadata"]["name"]
    assert admin.call("PATCH", f"{DEFINITIONS}/{name}", change, "application/merge-patch+json").status == 200
    assert admin.call("DELETE", f"{path}/mine").status == 200
    assert admin.call("DELETE", f"{DEFINITIONS}/{name}").status == 200


def test_a_webhook_that_cannot_be_called(
    world: ContractWorld, plane: ControlPlane, admin: Client, client: KubernetesClient
) -> None:
    hook = {
        "name": "away.example.com",
        "clientConfig": away(plane),
        "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"]}],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "matchConditions": [{"name": "own", "expression": f"request.name == '{world.space}'"}],
    }
    kind = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration"}
    assert admin.call("POST", HOOKS, {**kind, "metadata": {"name": world.space}, "webhooks": [hook]}).status == 201
    try:
        assert refusal_of(client, world, world.space).kind is Kind.PODS_AWAY
    finally:
        admin.call("DELETE", f"{HOOKS}/{world.space}")


def refusal_of(client: KubernetesClient, world: ContractWorld, name: str) -> KubernetesError:
    """Apply a ConfigMap until it is refused: a webhook takes effect late."""
    for number in range(50):
        world.settle(0)
        try:
            item = config_map(name, "default", number=str(number))
            client.apply(f"/api/v1/namespaces/default/configmaps/{name}", item, "ConfigMap")
        except KubernetesError as error:
            return error
    raise AssertionError("the webhook has no effect")


def test_an_aggregated_api_without_pods(world: ContractWorld, admin: Client, client: KubernetesClient) -> None:
    service = {"name": "away", "namespace": "default", "port": 443}
    spec = {
        "group": "away.example.com",
        "version": "v1",
        "service": service,
        "groupPriorityMinimum": 100,
        "versionPriority": 100,
        "insecureSkipTLSVerify": True,
    }
    name = "v1.away.example.com"
    item = {"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": {"name": name}, "spec": spec}
    assert admin.call("POST", SERVICES, item).status == 201
    try:
        end = time.monotonic() + 20
        while admin.call("GET", "/apis/away.example.com/v1").status != 503 or "away" not in str(
            admin.call("GET", "/apis").content
        ):
            assert time.monotonic() < end
            world.settle(0)
        with pytest.raises(KubernetesError, match=r"restore the pods of APIService v1\.away\.example\.com") as caught:
            list(Discovery(client).namespaced())
        assert caught.value.kind is Kind.PODS_AWAY
    finally:
        admin.call("DELETE", f"{SERVICES}/{name}")


def test_names_of_roles_can_have_characters_that_paths_escape(world: ContractWorld) -> None:
    items = [role(f"{world.space}{end}") for end in (":agent", "?b", " b", "#b", "ô")]
    assert world.send_all("Create", items)["Reason"] == "applied 5 objects"
    assert world.is_there(*items) == [True] * 5
    assert world.send_all("Delete", items)["Reason"] == "all objects are deleted"
    assert world.is_there(*items) == [False] * 5
