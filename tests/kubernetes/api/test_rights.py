"""What HyperPod's service and the teams may do with the objects of a file, as a real API server decides it."""

import itertools
from collections.abc import Iterator
from contextlib import closing

import pytest

from cluster_request.kubernetes_objects.dependencies import SERVICE_USER, objects_of
from cluster_request.kubernetes_objects.team_objects import team_group
from kubernetes_resource.client import HttpsTransport, KubernetesClient
from kubernetes_resource.discovery import Discovery
from kubernetes_resource.objects import Reference
from local_aws.kubernetes.control_plane import ControlPlane
from tests.kubernetes.webhook import Webhook
from tests.unit.cluster_request.kubernetes_objects.eks_file import FILE_SYSTEM, eks_file
from tests.unit.kubernetes_resource.api_server import TOKEN

REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
READ = {"get", "list", "watch"}
VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
OWN, OTHER = "hyperpod-ns-rights", "hyperpod-ns-rights-other"
RESOURCES = (
    *("/nodes", "/nodes/status", "/nodes/proxy", "/namespaces", "/persistentvolumes", "/persistentvolumeclaims"),
    *("/pods", "/pods/status", "/pods/log", "/pods/exec", "/pods/eviction"),
    *("/events", "/secrets", "/configmaps", "/services", "/serviceaccounts", "/serviceaccounts/token"),
    *("apps/daemonsets", "apps/deployments", "batch/jobs", "coordination.k8s.io/leases"),
    *("kubeflow.org/pytorchjobs", "kubeflow.org/pytorchjobs/status", "sagemaker.amazonaws.com/hyperpodpytorchjobs"),
    *("kueue.x-k8s.io/localqueues", "kueue.x-k8s.io/workloads", "kueue.x-k8s.io/clusterqueues"),
    *(f"rbac.authorization.k8s.io/{kind}" for kind in ("roles", "rolebindings", "clusterroles", "clusterrolebindings")),
)
JOBS = {"get", "list", "watch", "delete", "patch", "update"}
SERVICE = {
    "/nodes": READ | {"patch"},
    "/nodes/status": READ | {"patch"},
    "/pods": READ | {"delete", "deletecollection"},
    "/pods/status": READ,
    "/pods/eviction": {"create"},
    "/events": {"create"},
    "kubeflow.org/pytorchjobs": JOBS,
    "kubeflow.org/pytorchjobs/status": JOBS,
    "coordination.k8s.io/leases": {"get", "create", "update", "delete"},
}
OWN_KINDS = ("/pods", "/secrets", "/configmaps", "/services", "/persistentvolumeclaims", "batch/jobs")
OWN_JOBS = ("kubeflow.org/pytorchjobs", "sagemaker.amazonaws.com/hyperpodpytorchjobs")
SEEN = ("/pods/log", "/events", "kueue.x-k8s.io/localqueues", "kueue.x-k8s.io/workloads")
TEAM = {
    **{resource: set(VERBS) for resource in (*OWN_KINDS, *OWN_JOBS)},
    **dict.fromkeys(SEEN, READ),
    "/pods/exec": {"create", "get"},
}
NODES = {"/nodes": READ}


class Rights:
    """The API server with the objects of a file."""

    def __init__(self, client: KubernetesClient) -> None:
        self._client = client
        discovery = Discovery(client)
        items = objects_of(eks_file("rights", "rights-other"), region="us-west-2", file_system=FILE_SYSTEM)
        self._applied = [item for item in items if "Role" in item["kind"] or item["metadata"]["name"] in (OWN, OTHER)]
        self._paths = [str(discovery.path(Reference.of(item))) for item in self._applied]
        for path, item in zip(self._paths, self._applied, strict=True):
            client.apply(path, item, path)

    def end(self) -> None:
        """Delete the objects, which other tests apply, too."""
        for path in reversed(self._paths):
            live = self._client.get(path, path)
            if live:
                self._client.delete(path, live, path)

    def of(self, user: str, groups: tuple[str, ...], namespace: str) -> dict[str, set[str]]:
        """Return the verbs that a user has on each resource, in a namespace or on all objects."""
        found: dict[str, set[str]] = {}
        for resource, verb in itertools.product(RESOURCES, VERBS):
            group, _, rest = resource.partition("/")
            name, _, part = rest.partition("/")
            attributes = {"group": group, "resource": name, "subresource": part, "verb": verb, "namespace": namespace}
            spec = {"user": user, "groups": [*groups, "system:authenticated"], "resourceAttributes": attributes}
            review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec}
            if self._client.create(REVIEWS, review, resource)["status"]["allowed"]:
                found.setdefault(resource, set()).add(verb)
        return found


@pytest.fixture(scope="module")
def rights(plane: ControlPlane, webhook: Webhook) -> Iterator[Rights]:
    webhook.users[TOKEN] = {"username": "step", "groups": ["system:masters"]}
    with closing(KubernetesClient(HttpsTransport(plane.endpoint, plane.certificate_authority), TOKEN)) as client:
        found = Rights(client)
        yield found
        found.end()


def test_the_service_may_do_what_aws_documents_and_no_more(rights: Rights) -> None:
    assert rights.of(SERVICE_USER, (), "") == SERVICE


@pytest.mark.parametrize(
    ("namespace", "expected"), [(OWN, {**TEAM, **NODES}), (OTHER, NODES), ("kube-system", NODES), ("", NODES)]
)
def test_a_team_reaches_its_own_namespace_and_reads_nodes(rights: Rights, namespace: str, expected: dict[str, set[str]]) -> None:
    assert rights.of("arn:aws:sts::123456789012:assumed-role/research/me", (team_group("rights"),), namespace) == expected


def test_others_may_do_nothing(rights: Rights) -> None:
    assert rights.of("someone", (), OWN) == {}
