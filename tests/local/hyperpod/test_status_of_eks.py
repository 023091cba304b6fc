"""The parts of `hpod status` that read EKS and task governance, with real clients."""

from typing import Any

import pytest

from cli.deployment import Deployment
from cli.parts import Parts
from cli.status.eks import EksState
from cli.status.quotas import Governance
from local_aws import faults
from local_aws.hyperpod.governance_operations import ADDON
from tests.local.hyperpod.test_task_governance import cluster, quota, ready
from tests.simulator.hyperpod.eks_world import EksSite
from tests.unit.cli.governance import governed

pytestmark = pytest.mark.local
__all__ = ["cluster"]


class Session:
    """A session whose clients call the embedded AWS."""

    region_name = "us-west-2"

    def __init__(self, site: EksSite) -> None:
        self._site = site

    def client(self, service: str) -> Any:
        return self._site.eks if service == "eks" else self._site.world.client(service)


def deployment(site: EksSite) -> Deployment:
    session: Any = Session(site)
    return Deployment(governed().model_copy(update={"name": "ml"}), session)


def test_addons_without_nodes_are_degraded_with_eks_reason(site: EksSite, cluster: str) -> None:
    assert cluster
    parts = Parts("status")
    lines = EksState.read(parts, deployment(site)).lines()
    assert parts.missing == []
    version = site.eks.describe_cluster(name="ml")["cluster"]["version"]
    assert lines[:2] == [f"EKS: {version}, ACTIVE", "add-ons: 0 of 1 ACTIVE"]
    [line] = lines[2:]
    assert line.startswith(f"add-on {ADDON} is DEGRADED: InsufficientNumberOfReplicas: The add-on is unhealthy")


def test_a_failed_quota_has_the_reason_of_describe_compute_quota(site: EksSite, cluster: str) -> None:
    client = site.world.client("sagemaker", retries=0)
    ready(client, client.create_compute_quota(**quota(cluster, "speech"))["ComputeQuotaId"])
    faults.order(faults.Fault("sagemaker:CreateComputeQuota", "fail", message="too few nodes", times=1))
    ready(client, client.create_compute_quota(**quota(cluster))["ComputeQuotaId"])
    client.create_cluster_scheduler_config(
        Name="ml", ClusterArn=cluster, SchedulerConfig={"PriorityClasses": [{"Name": "training", "Weight": 80}]}
    )
    parts = Parts("status")
    found = Governance.read(parts, deployment(site), cluster)
    assert parts.missing == []
    assert [(each["team"], each["status"], each["message"]) for each in found.quotas] == [
        ("speech", "Created", None),
        ("vision", "CreateFailed", "too few nodes"),
    ]
    assert found.quotas[0]["reserved"][0]["count"] == 1
    assert found.scheduler is not None
    assert found.scheduler["name"] == "ml"
