"""The commands of operators on a real API server: a kubeconfig, and nodes that are drained and resumed."""

from typing import Any

import boto3
import pytest

from cli.errors import UnreachableError
from cli.kubeconfig import write_kubeconfig
from cli.kubernetes.client import OperatorClient, describe_eks, operator_client
from cli.kubernetes.kubeconfig import Entry
from cli.kubernetes.pods import pods_on
from cli.node_actions.kubernetes import Kubernetes
from local_aws.kubernetes.client import Client
from local_aws.testing import REGION
from tests.kubernetes.eks.conftest import Person, Site
from tests.simulator.eks.tokens import token

NODE = "hyperpod-i-0123456789abcdef0"
NAMESPACE = "/api/v1/namespaces/operators"
LABELS = {"sagemaker.amazonaws.com/node-health-status": "Schedulable", "app": "front"}


@pytest.fixture(scope="module")
def admin(site: Site) -> Person:
    return site.person("admin")


@pytest.fixture(scope="module")
def api(site: Site, admin: Person) -> Client:
    """The administrator's client, which registers a node and starts two pods on it, as no kubelet does here."""
    client = site.api(token(admin.keys))
    created(client, "/api/v1/nodes", {"metadata": {"name": NODE, "labels": LABELS}})
    created(client, "/api/v1/namespaces", {"metadata": {"name": "operators"}})
    account = {"metadata": {"name": "default"}}
    client.call("POST", f"{NAMESPACE}/serviceaccounts", account)  # unless the controller manager is faster
    created(client, f"{NAMESPACE}/pods", pod("train", restartPolicy="Never"))
    owned(client, "front")
    ready = {"status": {"conditions": [{"type": "Ready", "status": "True"}], "nodeInfo": {}}}
    client.call("PATCH", f"/api/v1/nodes/{NODE}/status", ready, "application/merge-patch+json")
    return client


def created(client: Client, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """Create an object, and return its metadata."""
    reply = client.call("POST", path, body)
    assert reply.status == 201, reply.content
    metadata: dict[str, Any] = reply.content["metadata"]
    return metadata


def owned(client: Client, name: str) -> None:
    """Start a pod that has a controller: any object, because one that does not exist would get the pod deleted."""
    owner = created(client, f"{NAMESPACE}/configmaps", {"metadata": {"generateName": "owner-"}})
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "controller": True, "name": owner["name"], "uid": owner["uid"]}
    created(client, f"{NAMESPACE}/pods", pod(name, [reference]))


def pod(name: str, owners: list[dict[str, Any]] | None = None, **spec: Any) -> dict[str, Any]:
    containers = [{"name": "main", "image": "none"}]
    metadata = {"name": name, "labels": {"app": name}, "ownerReferences": owners or []}
    return {
        "metadata": metadata,
        "spec": {"nodeName": NODE, "containers": containers, "terminationGracePeriodSeconds": 0, **spec},
    }


def opened(site: Site, keys: dict[str, str]) -> OperatorClient:
    """A client with a new token of these keys."""
    session = boto3.Session(region_name=REGION, **keys)
    eks = site.client("eks")  # DescribeCluster is the administrator's
    return operator_client(eks, session.client("sts", endpoint_url=site.endpoint), "ml")


@pytest.fixture
def kubernetes(site: Site, admin: Person, api: Client) -> Kubernetes:
    return Kubernetes(lambda: opened(site, admin.keys))


def test_a_drained_node_keeps_pods_of_jobs_and_is_resumed(kubernetes: Kubernetes, api: Client) -> None:
    found = kubernetes.nodes()[NODE]
    assert (found.is_drained, found.is_up, found.reason) == (False, True, "")
    assert sorted(job.id for job in kubernetes.jobs({NODE})) == ["operators/front", "operators/train"]

    kubernetes.drain({NODE}, "hpod drain by alice")
    drained = kubernetes.nodes()[NODE]
    assert (drained.state, drained.reason) == ("Ready,SchedulingDisabled", "hpod drain by alice")
    assert not drained.is_idle_and_drained
    assert [job.id for job in kubernetes.jobs({NODE})] == ["operators/train"]

    api.call("DELETE", f"{NAMESPACE}/pods/train", {"gracePeriodSeconds": 0})
    assert kubernetes.nodes()[NODE].is_idle_and_drained
    kubernetes.resume({NODE})
    resumed = kubernetes.nodes()[NODE]
    assert (resumed.state, resumed.reason) == ("Ready", "")


def test_a_disruption_budget_keeps_a_pod(site: Site, admin: Person, kubernetes: Kubernetes, api: Client) -> None:
    owned(api, "front")
    running = {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}
    api.call("PATCH", f"{NAMESPACE}/pods/front/status", running, "application/merge-patch+json")
    budget = {"metadata": {"name": "front"}, "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "front"}}}}
    created(api, "/apis/policy/v1beta1/namespaces/operators/poddisruptionbudgets", budget)
    with opened(site, admin.keys) as client:
        assert client.evict("operators", "front") is False
        assert client.evict("operators", "absent") is True
        assert [each.id for each in pods_on(client, frozenset({NODE}))] == ["operators/front"]


def test_a_reader_may_see_nodes_and_not_drain_them(site: Site, api: Client) -> None:
    kubernetes = Kubernetes(lambda: opened(site, site.person("reader").keys))
    with pytest.raises(UnreachableError, match=r"forbidden: .*; use a role of `eks.admins`"):
        kubernetes.drain({NODE}, "hpod drain by bob")


def test_a_role_without_an_access_entry_is_unauthorized(site: Site) -> None:
    with (
        opened(site, site.person("stranger").keys) as client,
        pytest.raises(UnreachableError, match=r"unauthorized; use a role of `eks.admins`$"),
    ):
        client.get("/api/v1/nodes")


def test_kubectl_works_with_the_context(site: Site, admin: Person) -> None:
    found = describe_eks(site.client("eks"), "ml")
    authority = found["certificateAuthority"]["data"]
    entry = Entry("prod", found["arn"], found["endpoint"], authority, REGION, "ml", namespace="operators")
    before = admin.kubectl("config", "get-contexts", "-o", "name").stdout.split()
    write_kubeconfig(admin.home / "config", entry, force=False)
    listed = admin.kubectl("--context", "prod", "get", "nodes", "-o", "name")
    assert listed.stdout.split() == [f"node/{NODE}"], listed.stderr
    assert sorted(admin.kubectl("config", "get-contexts", "-o", "name").stdout.split()) == sorted([*before, "prod"])
