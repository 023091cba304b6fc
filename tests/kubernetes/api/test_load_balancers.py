"""Services in the namespace of a team, as a real API server admits them."""

from typing import Any

import pytest

from cluster_request.kubernetes_objects.team_objects import NO_LOAD_BALANCERS, team_objects
from kubernetes_resource.errors import Kind, error_of
from local_aws.kubernetes.client import Client
from tests.kubernetes.running import until
from tests.unit.cluster_request.kubernetes_objects.eks_file import eks_file

SPACE = "/api/v1/namespaces/hyperpod-ns-balanced"
SERVICES = f"{SPACE}/services"
MERGE = "application/merge-patch+json"


@pytest.fixture(scope="module")
def team() -> list[dict[str, Any]]:
    eks = eks_file("balanced").eks
    assert eks
    return team_objects(*eks.teams)


def service(name: str, kind: str) -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": {"type": kind, "ports": [{"port": 80}]}}


def counted(admin: Client) -> bool:
    """Return whether the controller has counted the services: before that, the API server admits none."""
    return "hard" in (admin.call("GET", f"{SPACE}/resourcequotas/{NO_LOAD_BALANCERS}").content.get("status") or {})


def test_a_team_gets_services_but_no_load_balancer(admin: Client, team: list[dict[str, Any]]) -> None:
    found = {each["kind"]: each for each in team}
    assert admin.call("POST", "/api/v1/namespaces", found["Namespace"]).status == 201
    assert admin.call("POST", f"{SPACE}/resourcequotas", found["ResourceQuota"]).status == 201
    until(lambda: counted(admin), 60)

    assert admin.call("POST", SERVICES, service("inside", "ClusterIP")).status == 201
    refused = admin.call("POST", SERVICES, service("outside", "LoadBalancer"))
    assert (refused.status, "exceeded quota: no-load-balancers" in refused.content["message"]) == (403, True)
    assert error_of(refused.status, refused.content, "Service outside").kind is Kind.QUOTA
    changed = admin.call("PATCH", f"{SERVICES}/inside", {"spec": {"type": "LoadBalancer"}}, MERGE)
    assert (changed.status, "exceeded quota: no-load-balancers" in changed.content["message"]) == (403, True)
    admin.call("DELETE", SPACE)
