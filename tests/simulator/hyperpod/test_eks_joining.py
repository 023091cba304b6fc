"""How nodes join the API server of their EKS cluster, with and without kubelets, and what keeps them from it."""

from collections.abc import Iterator

import pytest

from local_aws import durations
from local_aws.hyperpod import starting
from local_aws.hyperpod.check_only_runner import CheckOnlyRunner
from tests.simulator.hyperpod.eks_world import EksSite
from tests.simulator.hyperpod.world import Hold

pytestmark = pytest.mark.local
NODES = "/api/v1/nodes"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/api/v1/namespaces/aws-hyperpod", "namespace aws-hyperpod"),
        ("/api/v1/namespaces/aws-hyperpod/serviceaccounts/health-monitoring-agent", "service account aws-hyperpod/health-mon"),
        ("/apis/apps/v1/namespaces/aws-hyperpod/daemonsets/health-monitoring-agent", "DaemonSet aws-hyperpod/health-monitoring"),
        ("patch nodes", "right of user hyperpod-service-linked-role to patch nodes"),
        ("create pods/eviction", "to create pods/eviction"),
    ],
)
def test_without_the_dependencies_nodes_and_cluster_fail_with_what_is_missing(site: EksSite, path: str, text: str) -> None:
    site.server.objects.pop(path, None)
    site.server.denied.add(path)
    failed = site.world.in_service(site.world.group("a"), **site.settings())
    assert failed["ClusterStatus"] == "Failed"
    assert text in failed["FailureMessage"]
    assert site.kube_nodes() == {}


@pytest.mark.fault(93)
def test_a_node_role_whose_access_entry_has_another_type_keeps_nodes_out(site: EksSite) -> None:
    site.eks.create_access_entry(clusterName="ml", principalArn=site.world.role)
    failed = site.world.in_service(site.world.group("a"), **site.settings())
    assert "access entry of type HYPERPOD_LINUX" in failed["FailureMessage"]


def test_with_continuous_provisioning_nodes_join_once_the_dependencies_are_there(site: EksSite) -> None:
    del site.server.objects["/api/v1/namespaces/aws-hyperpod"]
    site.world.create(site.world.group("a"), **site.settings(NodeProvisioningMode="Continuous"))
    site.world.until(
        lambda: [node["InstanceStatus"]["Message"] for node in site.world.nodes()], lambda texts: "namespace" in str(texts)
    )
    site.install()
    site.until_labels("node-health-status", "Schedulable")


class WithKubelets(CheckOnlyRunner):
    """A runner whose machines run kubelets; the test plays them."""

    runs_kubelets = True


@pytest.fixture
def with_kubelets() -> Iterator[None]:
    starting.use(WithKubelets())
    yield
    starting.use(CheckOnlyRunner())


@pytest.mark.usefixtures("with_kubelets")
def test_a_node_with_a_kubelet_registers_itself_and_hyperpod_labels_it_once_it_is_ready(site: EksSite) -> None:
    site.world.create(site.world.group("a", KubernetesConfig={"Labels": {"team": "a"}}), **site.settings())
    [node] = site.world.until(site.world.nodes, lambda nodes: len(nodes) == 1)
    asked = len(site.server.requests)
    site.world.until(lambda: len(site.server.requests), lambda count: count > asked + 10)
    assert site.world.cluster()["ClusterStatus"] == "Creating"
    ready = {"conditions": [{"type": "Ready", "status": "True"}]}
    path = f"{NODES}/hyperpod-{node['InstanceId']}"
    site.server.put(path, spec={}, status=ready)
    site.world.until_status("InService")
    site.until_labels("node-health-status", "Schedulable")
    found = site.server.objects[path]
    assert found["metadata"]["labels"]["team"] == "a"
    assert found["status"] == ready
    assert not [request for request in site.server.requests if request.user.startswith("system:node:")]


@pytest.mark.usefixtures("with_kubelets")
def test_a_node_that_never_joins_fails(site: EksSite) -> None:
    durations.change({"hyperpod.node.join": 60})
    failed = site.world.in_service(site.world.group("a"), **site.settings())
    assert failed["ClusterStatus"] == "Failed"
    assert "was not Ready in time" in failed["FailureMessage"]


def test_nodes_fail_if_the_api_server_does_not_answer_in_time(site: EksSite) -> None:
    site.programs.planes[-1].is_running = False
    failed = site.world.in_service(site.world.group("a"), **site.settings())
    assert failed["ClusterStatus"] == "Failed"
    assert "the API server does not answer" in failed["FailureMessage"]


def test_nodes_join_once_the_api_server_answers(site: EksSite, hold: Hold) -> None:
    hold("hyperpod.node.join")
    site.programs.planes[-1].is_running = False
    site.world.create(site.world.group("a"), **site.settings())
    site.world.until(lambda: site.programs.refused, lambda count: count > 2)
    assert site.world.cluster()["ClusterStatus"] == "Creating"
    site.programs.planes[-1].is_running = True
    site.world.until_status("InService")
