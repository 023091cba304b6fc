"""Custom::HyperPodDependencies before a real API server, and before the one in memory that its unit tests use."""

import itertools
import time
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest

from cluster_request.helm_chart.chart import rendered
from cluster_request.kubernetes_objects.dependencies import objects_of
from cluster_request.kubernetes_objects.shared_file_system import file_system_objects
from config.eks import EksConfig, HelmChart
from kubernetes_resource.client import HttpsTransport, KubernetesClient
from kubernetes_resource.discovery import Discovery
from kubernetes_resource.eks_access import EksAccess, EksCluster
from kubernetes_resource.errors import Kind, KubernetesError
from kubernetes_resource.objects import DEFINITION, INVENTORY_LABEL, MANAGED_BY, Reference, deletion_text
from local_aws.kubernetes.control_plane import ControlPlane
from tests.corpus.validate_case import CHARTS
from tests.helm import path_with_helm
from tests.kubernetes.webhook import Webhook
from tests.unit.cluster_request.kubernetes_objects.eks_file import FILE_SYSTEM, eks_file
from tests.unit.kubernetes_resource.api_server import TOKEN
from tests.unit.kubernetes_resource.dependencies_world import CLUSTER, DependenciesWorld
from tests.unit.kubernetes_resource.objects import account, config_map, cron_job, custom, daemon_set, definition, namespace, role

Json = dict[str, Any]
MEMORY, REAL = "memory", "real"
STRANGER = "k8s-aws-v1.stranger"
PAUSE_S = 0.3
_numbers = itertools.count()


class RealEks(EksAccess):
    """EKS with a cluster whose API server is real."""

    def __init__(self, plane: ControlPlane) -> None:
        self.plane = plane
        self.bearer = TOKEN

    def cluster(self, name: str) -> EksCluster | None:
        return EksCluster(name, "ACTIVE", self.plane.endpoint, self.plane.certificate_authority)

    def client(self, cluster: EksCluster, seconds_left: Callable[[], float]) -> KubernetesClient:
        transport = HttpsTransport(cluster.endpoint, cluster.certificate_authority)
        return KubernetesClient(transport, self.bearer, seconds_left)


class ContractWorld(DependenciesWorld):
    """The functions before either server; each test has objects and an inventory of its own."""

    def __init__(self, plane: ControlPlane | None) -> None:
        super().__init__()
        self.space = f"dependencies-{next(_numbers)}"
        if plane:
            self.access = RealEks(plane)

    @property
    def is_real(self) -> bool:
        return self.access is not self.eks

    def settle(self, seconds: float) -> None:
        if self.is_real:
            time.sleep(max(seconds, PAUSE_S))
        else:
            super().settle(seconds)

    def objects(self, **changes: str) -> list[Json]:
        space = self.space
        return [daemon_set(space=space, **changes), config_map(space=space), account(space=space), role(space), namespace(space)]

    def send_all(self, kind: str, objects: list[Json], old: list[Json] | None = None, **more: Any) -> Json:
        return self.do(kind, objects, old, Name=self.space, **more)

    def reason_at_the_deadline(self, kind: str, objects: list[Json], blocked: Json) -> str:
        """Deliver a request, and let the hour pass after its first steps and after the API server says what blocks it."""
        self.clock.advance(300)
        raw = self.deliver(self.request(kind, objects, Name=self.space))
        self.run(40)
        end = time.monotonic() + 20
        while "example.com/hold" not in deletion_text(self.get(blocked) or {"metadata": {}}):
            assert time.monotonic() < end
            self.settle(0)
        self.clock.advance(3400)
        self.run(40)
        return str(self.response(raw)["Reason"])

    def client(self) -> KubernetesClient:
        cluster = self.access.cluster(CLUSTER)
        assert cluster
        return self.access.client(cluster, self.seconds)

    def get(self, item: Json) -> Json | None:
        with closing(self.client()) as client:
            path = Discovery(client).path(Reference.of(item))
            return client.get(path, "") if path else None

    def is_there(self, *items: Json) -> list[bool]:
        return [self.get(item) is not None for item in items]

    def apply_as(self, manager: str, item: Json) -> None:
        """Apply an object as another manager, with force."""
        with closing(self.client()) as client:
            path = Discovery(client).path(Reference.of(item))
            assert path
            client._call("PATCH", f"{path}?fieldManager={manager}&force=true", "", item, "application/apply-patch+yaml")


@pytest.fixture(params=[MEMORY, REAL])
def world(request: pytest.FixtureRequest, plane: ControlPlane, webhook: Webhook) -> ContractWorld:
    webhook.users[TOKEN] = {"username": "step", "groups": ["system:masters"]}
    webhook.users[STRANGER] = {"username": "stranger", "groups": []}
    return ContractWorld(plane if request.param == REAL else None)


def pod_with_claim(space: str) -> Json:
    """Return a pod that uses the file system."""
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": FILE_SYSTEM.claim_name}}
    spec = {"containers": [{"name": "job", "image": "job:1"}], "volumes": [volume], "serviceAccountName": "default"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "job", "namespace": space}, "spec": spec}


def versions(world: ContractWorld, items: list[Json]) -> list[str]:
    return [(world.get(item) or {})["metadata"]["resourceVersion"] for item in items if item["kind"] != "DaemonSet"]


def test_create_update_prune_and_delete(world: ContractWorld) -> None:
    first = world.objects()
    assert world.send_all("Create", first)["Reason"] == "applied 5 objects"
    before = versions(world, first)
    assert world.send_all("Update", first, first)["Reason"] == "applied 5 objects"
    assert versions(world, first) == before
    second = [each for each in world.objects(image="agent:2") if each["kind"] != "ConfigMap"]
    assert world.send_all("Update", second, first)["Reason"] == "applied 4 objects; deleted 1"
    assert world.is_there(*first) == [True, False, True, True, True]
    live = world.get(first[0]) or {}
    assert live["spec"]["template"]["spec"]["containers"][0]["image"] == "agent:2"
    assert world.send_all("Delete", second)["Reason"] == "all objects are deleted"
    assert world.is_there(*first) == [False] * 5


def test_a_conflict_and_its_end(world: ContractWorld) -> None:
    objects = [config_map(space=world.space, a="1", b="2"), daemon_set(space=world.space), namespace(world.space)]
    world.send_all("Create", objects)
    world.apply_as("helm", config_map(space=world.space, a="x"))
    reason = (
        f"ConfigMap {world.space}/settings: conflict: .data.a belongs to helm; "
        "set the field to the template's value or remove it, then deploy again"
    )
    assert world.send_all("Update", objects, objects)["Reason"] == reason
    world.apply_as("helm", config_map(space=world.space, a="1"))
    assert world.send_all("Update", objects, objects)["Status"] == "SUCCESS"
    assert (world.get(objects[0]) or {})["data"] == {"a": "1", "b": "2"}
    world.apply_as("kubectl", daemon_set(image="agent:debug", space=world.space))
    assert world.send_all("Update", objects, objects)["Reason"].startswith(
        f'DaemonSet {world.space}/agent: conflict: .spec.template.spec.containers[name="agent"].image belongs to kubectl; '
    )


def test_an_object_of_another_owner_survives(world: ContractWorld) -> None:
    world.apply_as("helm", {**role(world.space), "metadata": {"name": world.space, "labels": {MANAGED_BY: "Helm"}}})
    objects = world.objects()
    done = world.send_all("Create", objects)
    assert done["Reason"].startswith(f"ClusterRole {world.space}: exists and belongs to Helm; ")
    done = world.send_all("Delete", objects)
    assert done["Reason"] == f"ClusterRole {world.space} is kept: it belongs to Helm"
    assert world.is_there(role(world.space), namespace(world.space)) == [True, False]


def test_definitions_and_custom_resources(world: ContractWorld) -> None:
    objects = [definition(), custom("one"), custom("two")]
    assert world.send_all("Create", objects)["Reason"] == "applied 3 objects"
    assert (world.get(objects[1]) or {})["spec"] == {"size": 3}
    world.apply_as("user", custom("mine"))
    kept = "CustomResourceDefinition jobs.example.com is kept: it holds Job mine"
    assert world.send_all("Update", [], objects)["Reason"] == f"applied 0 objects; deleted 2; {kept}"
    labels = {MANAGED_BY: "hyperpod-cdk", INVENTORY_LABEL: world.space}
    world.apply_as("user", {**custom("mine"), "metadata": {"name": "mine", "namespace": "default", "labels": labels}})
    assert world.send_all("Delete", [])["Reason"] == "all objects are deleted"
    assert (world.get(definition()), world.get(custom("mine"))) == (None, None)


def test_a_namespace_of_others_is_kept(world: ContractWorld) -> None:
    world.send_all("Create", [namespace(world.space)])
    world.apply_as("user", config_map("mine", world.space))
    done = world.send_all("Delete", [namespace(world.space)])
    assert done["Reason"] == f"Namespace {world.space} is kept: it holds ConfigMap mine"
    assert world.is_there(config_map("mine", world.space)) == [True]


def test_a_kind_outside_the_preferred_version_keeps_its_namespace(world: ContractWorld) -> None:
    world.send_all("Create", [namespace(world.space)])
    world.apply_as("user", cron_job("mine", world.space))
    done = world.send_all("Delete", [namespace(world.space)])
    assert done["Reason"] == f"Namespace {world.space} is kept: it holds CronJob mine"
    assert world.is_there(cron_job("mine", world.space)) == [True]


def test_a_claim_that_a_pod_uses_is_kept_with_its_volume(world: ContractWorld) -> None:
    objects = [namespace(world.space), *file_system_objects(FILE_SYSTEM, world.space)]
    assert world.send_all("Create", objects)["Reason"] == "applied 3 objects"
    world.settle(1)
    world.apply_as("user", pod_with_claim(world.space))
    reason = world.send_all("Update", [namespace(world.space)], objects)["Reason"]
    claim = f"PersistentVolumeClaim {world.space}/{FILE_SYSTEM.claim_name}"
    assert reason.startswith(f"applied 1 objects; {claim} is kept: it is in use by Pod job; PersistentVolume ")
    assert reason.endswith(f" is kept: it is bound to {claim}")
    assert world.is_there(*objects) == [True] * 3


@pytest.mark.parametrize("is_namespace", [False, True])
def test_a_finalizer_is_named(world: ContractWorld, is_namespace: bool) -> None:
    objects = world.objects() if not is_namespace else [namespace(world.space)]
    held = config_map(space=world.space)
    owner = {"apiVersion": "v1", "kind": "Node", "name": "x", "uid": "1"}
    metadata = {**held["metadata"], "finalizers": ["example.com/hold"], **({"ownerReferences": [owner]} if is_namespace else {})}
    world.send_all("Create", objects)
    world.apply_as("user", {**held, "metadata": metadata})
    reason = world.reason_at_the_deadline("Delete", objects, namespace(world.space) if is_namespace else held)
    name = f"Namespace {world.space}" if is_namespace else f"ConfigMap {world.space}/settings"
    assert reason.startswith(f"{name}: being deleted (")
    assert "example.com/hold" in reason
    world.apply_as("user", {**held, "metadata": {**metadata, "finalizers": []}})
    assert world.send_all("Delete", objects)["Reason"] == "all objects are deleted"


@pytest.mark.parametrize(
    ("change", "start", "text"),
    [
        (lambda space: daemon_set(app="other", space=space), "DaemonSet", "field is immutable"),
        (lambda space: account(space=f"{space}-absent"), "ServiceAccount", 'namespaces "'),
        (lambda space: {**custom(space=space), "apiVersion": "absent.example.com/v1"}, "Job", "does not serve kind Job"),
        (lambda space: daemon_set("Agent", space=space), "DaemonSet", "Agent"),
    ],
    ids=["immutable", "namespace", "kind", "name"],
)
def test_refused_objects_are_named(world: ContractWorld, change: Callable[[str], Json], start: str, text: str) -> None:
    changed = change(world.space)
    if changed["metadata"]["name"] == "Agent" and not world.is_real:
        pytest.skip("the server in memory does not check names")
    world.send_all("Create", world.objects())
    others = [each for each in world.objects() if Reference.of(each) != Reference.of(changed)]
    done = world.send_all("Update", [*others, changed], world.objects())
    assert done["Status"] == "FAILED"
    assert done["Reason"].startswith(f"{start} {changed['metadata']['namespace']}/{changed['metadata']['name']}: ")
    assert text in done["Reason"]


def test_replies_have_the_kinds_of_the_server_in_memory(world: ContractWorld) -> None:
    path = "/api/v1/namespaces/default/configmaps"
    desired = config_map(world.space, "default")
    with closing(world.client()) as client:
        live = client.create(path, desired, "it")
        kinds = [_kind(lambda: client.create(path, desired, "it"))]
        changed = client.replace(f"{path}/{world.space}", {**live, "data": {"a": "2"}}, "it")
        kinds.append(_kind(lambda: client.replace(f"{path}/{world.space}", live, "it")))
        kinds.append(_kind(lambda: client.delete(f"{path}/{world.space}", live, "it")))
        other = {"metadata": {**changed["metadata"], "uid": "other"}}
        kinds.append(_kind(lambda: client.delete(f"{path}/{world.space}", other, "it")))
        client.delete(f"{path}/{world.space}", changed, "it")
        while client.get(f"{path}/{world.space}", "it"):
            world.settle(0)
        client.delete(f"{path}/{world.space}", changed, "it")
    assert kinds == [Kind.STALE] * 4


def test_an_apply_with_another_uid_is_refused(world: ContractWorld) -> None:
    path = f"/api/v1/namespaces/default/configmaps/{world.space}"
    desired = config_map(world.space, "default")
    with closing(world.client()) as client:
        live = client.apply(path, desired, "it")
        same = {**desired, "metadata": {**desired["metadata"], "uid": live["metadata"]["uid"]}}
        other = {**desired, "metadata": {**desired["metadata"], "uid": "other"}}
        assert client.apply(path, same, "it")["metadata"]["resourceVersion"] == live["metadata"]["resourceVersion"]
        assert _kind(lambda: client.apply(path, other, "it")) is Kind.STALE


def _kind(call: Callable[[], object]) -> Kind:
    with pytest.raises(KubernetesError) as caught:
        call()
    return caught.value.kind


@pytest.mark.parametrize(
    ("bearer", "text"),
    [
        ("k8s-aws-v1.unknown", "Unauthorized; create the access entry of the function's role"),
        (STRANGER, 'configmaps "hyperpod-cdk-'),
    ],
)
def test_tokens_without_rights(plane: ControlPlane, webhook: Webhook, bearer: str, text: str) -> None:
    webhook.users[STRANGER] = {"username": "stranger", "groups": []}
    world = ContractWorld(plane)
    assert isinstance(world.access, RealEks)
    world.access.bearer = bearer
    reason = world.send_all("Create", world.objects())["Reason"]
    assert text in reason
    assert reason.startswith(f"ConfigMap kube-system/hyperpod-cdk-{world.space}: ")


def test_a_terminating_namespace_is_refused(world: ContractWorld) -> None:
    world.send_all("Create", world.objects())
    held = config_map(space=world.space)
    world.apply_as("user", {**held, "metadata": {**held["metadata"], "finalizers": ["example.com/hold"]}})
    path = f"/api/v1/namespaces/{world.space}"
    with closing(world.client()) as client:
        live = client.get(path, "it")
        assert live
        client.delete(path, live, "it")
        world.settle(1)
        assert _kind(lambda: client.create(f"{path}/configmaps", config_map("new", world.space), "it")) is Kind.TERMINATING
    world.apply_as("user", {**held, "metadata": {**held["metadata"], "finalizers": []}})


def test_the_objects_of_a_file(world: ContractWorld) -> None:
    objects = objects_of(eks_file("research"), region="us-west-2", file_system=FILE_SYSTEM)
    assert world.send_all("Create", objects)["Reason"] == f"applied {len(objects)} objects"
    assert world.is_there(*objects) == [True] * len(objects)
    assert world.send_all("Delete", objects)["Reason"] == "all objects are deleted"
    assert world.is_there(*objects) == [False] * len(objects)


def test_the_objects_of_a_helm_chart(world: ContractWorld) -> None:
    with path_with_helm():
        chart = rendered(EksConfig(helm_chart=HelmChart(folder=CHARTS / "hyperpod")))
    assert chart
    objects = list(chart.objects)
    assert world.send_all("Create", objects)["Reason"] == f"applied {len(objects)} objects"
    assert world.is_there(*objects) == [True] * len(objects)
    own = objects_of(eks_file(), region="us-west-2")
    assert world.send_all("Update", own, objects)["Reason"].startswith(f"applied {len(own)} objects; deleted ")
    assert world.send_all("Delete", own)["Reason"] == "all objects are deleted"
    assert world.is_there(*objects) == [False] * len(objects)


def test_the_kinds_that_have_a_rank_are_served(plane: ControlPlane) -> None:
    world = ContractWorld(plane)
    with closing(world.client()) as client:
        assert Discovery(client).path(Reference("apiextensions.k8s.io/v1", DEFINITION, "", "a")) == (
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/a"
        )
        kinds = {collection.kind for collection in Discovery(client).namespaced()}
    assert {"Pod", "Secret", "DaemonSet", "RoleBinding", "Job"} <= kinds
