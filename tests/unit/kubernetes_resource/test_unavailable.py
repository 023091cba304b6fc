"""What is away is waited for, or named: the API server, another server before it, and what pods serve."""

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from tests.unit.cluster_resource.calls_world import minutes
from tests.unit.kubernetes_resource.api_server import ApiServer, Place
from tests.unit.kubernetes_resource.dependencies_world import DependenciesWorld
from tests.unit.kubernetes_resource.objects import config_map, custom, definition, namespace, standard
from tests.unit.kubernetes_resource.refusals import Refusal
from tests.unit.kubernetes_resource.test_errors import refuse

Json = dict[str, Any]
METRICS = "metrics.k8s.io/v1beta1"


class Aggregator(ApiServer):
    """A server that does not serve one of its APIs now."""

    version, content = METRICS, b"service unavailable\n"
    is_away = True

    def __call__(self, method: str, path: str, headers: Mapping[str, str], body: bytes | None) -> tuple[int, bytes]:
        if self.is_away and path == f"/apis/{self.version}":
            return 503, self.content
        return super().__call__(method, path, headers, body)


def lose_metrics(world: DependenciesWorld) -> Aggregator:
    """Let the pods of an aggregated API be away."""
    world.server.served[METRICS] = [("PodMetrics", "pods", True)]
    service = {"name": "metrics-server", "namespace": "kube-system"}
    metadata = {"name": "v1beta1.metrics.k8s.io"}
    world.server.add(
        {"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": metadata, "spec": {"service": service}}
    )
    world.eks.server = server = Aggregator(**vars(world.server))
    return server


class Proxy(ApiServer):
    """A server before the API server that answers for it."""

    replies: Iterator[tuple[int, bytes]]

    def __call__(self, *request: Any) -> tuple[int, bytes]:
        return next(self.replies, None) or super().__call__(*request)


@pytest.mark.parametrize("status", [200, 404, 502])
def test_an_answer_of_another_server_is_retried(world: DependenciesWorld, status: int) -> None:
    world.do("Create", standard())
    world.eks.server = proxy = Proxy(**vars(world.server))
    proxy.replies = iter([(status, b"<html>not the API server</html>")] * 5)
    assert world.do("Delete", standard())["Status"] == "SUCCESS"
    assert list(proxy.replies) == []
    assert world.ours() == set()


@pytest.mark.parametrize("content", [b"service unavailable\n", b'{"message": "service unavailable"}'])
def test_a_namespace_is_kept_while_an_aggregated_api_has_no_pods(world: DependenciesWorld, content: bytes) -> None:
    world.do("Create", standard())
    lose_metrics(world).content = content
    done = world.do("Delete", standard())
    assert done["Status"] == "SUCCESS"
    assert done["Reason"].startswith("Namespace aws-hyperpod is kept: its objects cannot be listed: API metrics.k8s.io/v1beta1: ")
    assert done["Reason"].endswith("; restore the pods of APIService v1beta1.metrics.k8s.io or delete it, then deploy again")
    assert world.ours() == {"Namespace aws-hyperpod"}


def test_an_aggregated_api_of_an_object_must_be_back_before_the_object_is_deleted(world: DependenciesWorld) -> None:
    world.do("Create", standard())
    lose_metrics(world)
    ours = {"apiVersion": "metrics.k8s.io/v1beta1", "kind": "PodMetrics", "metadata": {"name": "ours", "namespace": "default"}}
    reason = world.do("Update", [*standard(), ours], standard())["Reason"]
    assert reason.startswith("API metrics.k8s.io/v1beta1: ")
    assert "; restore the pods of APIService v1beta1.metrics.k8s.io or delete it, then deploy again" in reason


def test_a_server_that_never_answers_as_the_api_is_named(world: DependenciesWorld) -> None:
    world.eks.server = proxy = Proxy()
    proxy.replies = itertools.repeat((404, b"<html>not the API server</html>"))
    assert "HTTP 404 without a JSON object; check the endpoint access" in world.do("Delete", standard())["Reason"]


@pytest.mark.parametrize(
    "text",
    [
        'failed calling webhook "mpod.example.com": no endpoints available for service "hook"',
        "conversion webhook for example.com/v1, Kind=Job failed: connection refused",
    ],
)
def test_a_webhook_that_never_answers_is_named(world: DependenciesWorld, text: str) -> None:
    refuse(world, "PATCH", "daemonsets", Refusal(500, "InternalError", f"Internal error occurred: {text}"))
    reason = world.do("Create", standard())["Reason"]
    assert f"{text}; restore the pods of the webhook, or delete its configuration, then deploy again" in reason
    assert 57 <= minutes(world) < 59


def test_a_namespace_is_kept_while_objects_in_it_cannot_be_converted(world: DependenciesWorld) -> None:
    world.do("Create", [namespace(), definition()])
    world.server.add(custom("mine", "aws-hyperpod"))
    text = "conversion webhook for example.com/v1, Kind=Job failed: no endpoints available"
    refuse(world, "GET", "jobs", Refusal(500, "InternalError", text))
    done = world.do("Delete", [namespace(), definition()])
    assert (done["Status"], minutes(world) < 5) == ("SUCCESS", True)
    assert "CustomResourceDefinition jobs.example.com is kept: its objects cannot be listed: " in done["Reason"]
    assert "Namespace aws-hyperpod is kept: its objects cannot be listed: " in done["Reason"]
    assert world.server.find("Job", "mine", "aws-hyperpod")


def test_a_page_that_has_expired_is_read_again(world: DependenciesWorld) -> None:
    world.do("Create", [namespace()])
    world.server.add(config_map("mine"))
    replies = [Refusal(410, "Expired", "The provided continue parameter is too old")]

    def expire(method: str, place: Place) -> None:
        if (method, place.plural, place.name) == ("GET", "configmaps", "") and replies:
            raise replies.pop()

    world.server.on_call = expire
    assert world.do("Delete", [namespace()])["Reason"] == "Namespace aws-hyperpod is kept: it holds ConfigMap mine"
    assert replies == []


def test_an_object_that_changes_before_its_deletion_is_read_again_in_the_same_step(world: DependenciesWorld) -> None:
    world.do("Create", standard())
    left = [1, 2]

    def change(method: str, place: Place) -> None:
        if (method, place.plural) == ("DELETE", "daemonsets") and left:
            world.server.edit("DaemonSet", "agent", lambda live: live.update(status={"desired": left.pop()}), "aws-hyperpod")

    world.server.on_call = change
    assert world.do("Delete", standard())["Reason"] == "all objects are deleted"
    assert (left, minutes(world) < 1) == ([], True)


def test_an_api_server_that_starts_is_waited_for(world: DependenciesWorld) -> None:
    """It replies 503 for APIs that it has not loaded, without pods that could be restored."""
    world.do("Create", standard())
    world.server.served["example.com/v1"] = [("Job", "jobs", True)]
    world.eks.server = server = Aggregator(**vars(world.server))
    server.version = "example.com/v1"
    raw = world.deliver(world.request("Delete", standard()))
    world.run(600)
    assert world.responses.keys().isdisjoint({raw["RequestId"]})
    server.is_away = False
    world.run(60)
    assert world.response(raw)["Reason"] == "all objects are deleted"
