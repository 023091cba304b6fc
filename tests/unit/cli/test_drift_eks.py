"""`hpod drift` on a cluster with EKS: quotas, the scheduler config, and the objects that the deployment applied."""

import json
from typing import Any

import pytest

from cli.deployment import Deployment
from cli.drift.command import drift
from cli.drift.of_eks import KEEP, SET, object_differences, quota_differences
from cli.errors import UnreachableError
from cli.kubernetes.client import OperatorClient
from cli.parts import Parts
from cli.result import Json
from cluster_request.property_values import named_properties, property_value
from cluster_request.quotas import compute_quotas, scheduler_config
from config.model import ClusterConfig
from tests.unit.cli.fake_eks import EksDeployment, FakeApiServer, FakeEks, FakeSession
from tests.unit.cli.fake_operations import ARN, NOW, FakeOperations
from tests.unit.cli.governance import governed, quota, scheduler
from tests.unit.cli.test_drift import DriftAccount, SageMaker
from tests.unit.kubernetes_resource.api_server import TOKEN, ApiServer
from tests.unit.kubernetes_resource.objects import config_map, daemon_set, namespace

TEAM = "quota of team research"
OBJECTS = "a deployment creates it again only when it changes objects in Kubernetes"
NAME = "hyperpod-cdk-hyperpod"


class GovernedAccount(FakeOperations):
    """The account of the file, whose quotas and scheduler config are as deployed."""

    def __init__(self, file: ClusterConfig) -> None:
        super().__init__()
        self.arn = ARN
        [desired] = compute_quotas(file)
        config = scheduler_config(file)
        self.quotas = [{**quota("research"), **json.loads(json.dumps(desired))}]
        self.schedulers = [{**scheduler(), **json.loads(json.dumps(config))}]
        teams = [(each["ComputeQuotaTarget"]["TeamName"], each) for each in compute_quotas(file)]
        self.properties = {"ClusterArn": ARN, **named_properties("Quota", teams), "SchedulerConfig": property_value(config)}

    def page(self, operation: str, asked: Json) -> Json:
        assert asked == {"ClusterArn": self.arn}
        return super().page(operation, {"ClusterArn": ARN})

    def get_template(self, **asked: str) -> Json:
        assert asked["StackName"] == "draft-Addons"
        resource = {"Type": "Custom::HyperPodComputeQuotas", "Properties": self.properties}
        return {"TemplateBody": json.dumps({"Resources": {"Quotas": resource}})}


@pytest.fixture
def file() -> ClusterConfig:
    return with_scheduling()


def with_scheduling() -> ClusterConfig:
    """A file with a quota and priorities."""
    base = governed()
    assert base.eks
    scheduling: Json = {"priority_classes": [{"name": "training", "weight": 80}]}
    content = base.model_dump(mode="json", exclude_unset=True)
    return ClusterConfig.model_validate({**content, "eks": {**content["eks"], "scheduling": scheduling}})


@pytest.fixture
def account(file: ClusterConfig) -> GovernedAccount:
    return GovernedAccount(file)


def found(account: GovernedAccount, file: ClusterConfig) -> list[tuple[str, str, Any, Any, str]]:
    parts = Parts("drift")
    differences = quota_differences(EksDeployment(account, FakeApiServer(), config=file), parts, ARN)
    assert parts.missing == []
    return [(each.place, each.field, each.file, each.actual, each.deployment) for each in differences]


def test_quotas_as_the_file_has_them_do_not_differ(account: GovernedAccount, file: ClusterConfig) -> None:
    account.quotas.append(quota("of-others"))
    assert found(account, file) == []


def test_a_deleted_quota_and_a_deleted_scheduler_config_are_missing(account: GovernedAccount, file: ClusterConfig) -> None:
    account.quotas, account.schedulers = [], []
    assert found(account, file) == [
        (TEAM, "quota", "draft-research", None, KEEP),
        ("scheduler config", "config", "draft", None, KEEP),
    ]


def test_each_changed_field_is_shown_with_both_values(account: GovernedAccount, file: ClusterConfig) -> None:
    account.quotas[0]["ComputeQuotaConfig"]["PreemptTeamTasks"] = "Never"
    account.schedulers[0]["SchedulerConfig"]["FairShare"] = "Disabled"
    assert found(account, file) == [
        (TEAM, "ComputeQuotaConfig.PreemptTeamTasks", "LowerPriority", "Never", KEEP),
        ("scheduler config", "SchedulerConfig.FairShare", "Enabled", "Disabled", KEEP),
    ]


def test_a_failed_quota_differs(account: GovernedAccount, file: ClusterConfig) -> None:
    account.quotas[0]["Status"] = "CreateFailed"
    assert found(account, file) == [(TEAM, "Status", "Created", "CreateFailed", KEEP)]


def test_a_deployment_of_a_changed_file_sets_the_quotas(account: GovernedAccount, file: ClusterConfig) -> None:
    account.quotas = []
    del account.properties["SchedulerConfig"]
    assert [action for *_, action in found(account, file)] == [SET]


def test_quotas_that_aws_refuses_to_list_are_reported_as_missing(account: GovernedAccount, file: ClusterConfig) -> None:
    account.refused.add("list_compute_quotas")
    parts = Parts("drift")
    assert quota_differences(EksDeployment(account, FakeApiServer(), config=file), parts, ARN) == []
    assert [str(each).partition(":")[0] for each in parts.missing] == ["quotas"]


class EksSession(FakeSession):
    """A session whose account has a client of its own for each service."""

    def client(self, service: str) -> Any:
        return super().client(service) if service in ("eks", "sts") else self.account.client(service)


class ObjectsDeployment(Deployment):
    """A deployment before an API server that serves all kinds of objects."""

    def __init__(self, server: ApiServer, account: Any = None, config: ClusterConfig | None = None) -> None:
        session: Any = EksSession(FakeEks(), account)
        super().__init__(config or governed(), session)
        self.real = server

    def kubernetes(self) -> OperatorClient:
        return OperatorClient("draft", self.real, TOKEN)


def with_inventory(*listed: Json) -> ApiServer:
    """An API server with objects, and an inventory that lists them."""
    server = ApiServer()
    for each in sorted(listed, key=lambda each: each["kind"] != "Namespace"):
        server.add(each)
    entries = [
        {
            "api_version": each["apiVersion"],
            "kind": each["kind"],
            "namespace": each["metadata"].get("namespace", ""),
            "name": each["metadata"]["name"],
        }
        for each in listed
    ]
    server.add(config_map(NAME, "kube-system", objects=json.dumps(entries)))
    return server


def test_objects_of_the_inventory_that_were_deleted_are_listed() -> None:
    server = with_inventory(namespace(), config_map(), daemon_set())
    assert object_differences(ObjectsDeployment(server)) == []
    del server.objects["apps", "daemonsets", "aws-hyperpod", "agent"]
    [missing] = object_differences(ObjectsDeployment(server))
    assert missing.data() == {
        "place": "DaemonSet aws-hyperpod/agent",
        "field": "object",
        "desired": "exists",
        "observed": None,
        "deployment": OBJECTS,
    }
    assert server.closed == 2


def test_a_kind_that_is_not_served_is_missing() -> None:
    server = with_inventory(namespace(), daemon_set())
    del server.served["apps/v1"]
    assert [each.place for each in object_differences(ObjectsDeployment(server))] == ["DaemonSet aws-hyperpod/agent"]


def test_a_deleted_inventory_is_missing() -> None:
    assert [each.place for each in object_differences(ObjectsDeployment(ApiServer()))] == [f"ConfigMap kube-system/{NAME}"]


@pytest.mark.parametrize("data", [{}, {"objects": "["}, {"objects": "[1]"}])
def test_a_broken_inventory_is_refused_with_its_name(data: dict[str, str]) -> None:
    server = ApiServer()
    server.add({**config_map(NAME, "kube-system"), "data": data})
    with pytest.raises(UnreachableError, match=rf"^ConfigMap kube-system/{NAME}: data.objects is not a list of objects; restore"):
        object_differences(ObjectsDeployment(server))


class GovernedSageMaker(SageMaker):
    """SageMaker with the cluster of the other account, and the quotas of this one."""

    def __init__(self, account: DriftAccount, governed: GovernedAccount) -> None:
        super().__init__(account)
        self._governed = governed

    def get_paginator(self, operation: str) -> Any:
        owner: Any = self._governed if operation.startswith(("list_compute", "list_cluster_scheduler")) else super()
        return owner.get_paginator(operation)

    def describe_cluster_scheduler_config(self, **asked: str) -> Json:
        return self._governed.describe_cluster_scheduler_config(**asked)


class EksDriftAccount(DriftAccount):
    """A cluster with EKS that its own stack deployed, with quotas."""

    def __init__(self) -> None:
        super().__init__()
        self.file = with_scheduling()
        self.governed = GovernedAccount(self.file)
        self.governed.arn = self.cluster.arn

    def client(self, service: str) -> Any:
        return GovernedSageMaker(self, self.governed) if service == "sagemaker" else self

    def get_template(self, **asked: str) -> Json:
        return self.governed.get_template(**asked) if asked["StackName"] == "draft-Addons" else super().get_template(**asked)

    def deployment(self, server: ApiServer) -> ObjectsDeployment:
        return ObjectsDeployment(server, self, self.file)


def test_the_report_has_quotas_and_objects_and_names_what_it_does_not_compare() -> None:
    account, server = EksDriftAccount(), with_inventory(namespace(), daemon_set())
    before = drift(account.deployment(server), now=NOW)
    account.governed.quotas = []
    del server.objects["apps", "daemonsets", "aws-hyperpod", "agent"]
    result = drift(account.deployment(server), now=NOW)
    assert before.data
    assert result.data
    added = [each["place"] for each in result.data["differences"] if each not in before.data["differences"]]
    assert added == [TEAM, "DaemonSet aws-hyperpod/agent"]
    line = "not compared: fields of objects in Kubernetes, labels and taints of nodes, scripts of nodes"
    assert line in str(result).splitlines()
    assert result.data["not_compared"] == line.removeprefix("not compared: ").split(", ")
    assert "have no agent" not in str(result)


def test_without_access_to_kubernetes_the_rest_is_compared() -> None:
    account, server = EksDriftAccount(), with_inventory(namespace())
    account.governed.quotas, server.is_authenticated = [], False
    result = drift(account.deployment(server), now=NOW)
    assert result.data
    assert TEAM in [each["place"] for each in result.data["differences"]]
    [line] = [each for each in str(result).splitlines() if each.startswith("objects in Kubernetes: ")]
    assert "unauthorized" in line
    assert [each["level"] for each in result.problems] == ["warning"]
