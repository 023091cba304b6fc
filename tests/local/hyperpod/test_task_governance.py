"""Compute quotas and scheduler configs, and the resource that converges them."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from cluster_resource.errors import PendingError
from cluster_resource.event import Owner
from local_aws import durations, faults
from local_aws.clock import clock
from local_aws.hyperpod import service_behaviour
from local_aws.hyperpod.governance_operations import ADDON
from quota_resource.convergence import Work, converge, delete
from quota_resource.progress import Progress
from quota_resource.properties import Desired, Item
from quota_resource.quota_api import QuotaApi
from tests.simulator.hyperpod.eks_world import EksSite
from tests.simulator.hyperpod.world import until
from tests.simulator.machinery.account import refusal

pytestmark = pytest.mark.local
Json = dict[str, Any]
CONFIG = {"ComputeQuotaResources": [{"InstanceType": "ml.c5.xlarge", "Count": 1}]}
OWNER = Owner("arn:aws:cloudformation:us-west-2:123456789012:stack/ml-Addons/1", "Quotas")


@pytest.fixture
def cluster(site: EksSite) -> Iterator[str]:
    """A HyperPod cluster on EKS with task governance; its ARN."""
    site.eks.create_addon(clusterName="ml", addonName=ADDON)
    addon = {"clusterName": "ml", "addonName": ADDON}
    until(lambda: site.eks.describe_addon(**addon)["addon"]["status"], lambda status: status in ("ACTIVE", "DEGRADED"))
    site.world.create(site.world.group("workers"), **site.settings(VpcConfig=site.world.vpc()))
    yield str(site.world.until_status("InService")["ClusterArn"])
    service_behaviour.reset()


def quota(cluster: str, team: str = "vision", **more: Any) -> Json:
    target = {"TeamName": team, "FairShareWeight": 10}
    return {"Name": f"ml-{team}", "ClusterArn": cluster, "ComputeQuotaConfig": CONFIG, "ComputeQuotaTarget": target, **more}


def ready(client: Any, quota_id: str) -> Json:
    found: Json = until(
        lambda: client.describe_compute_quota(ComputeQuotaId=quota_id), lambda found: not found["Status"].endswith("ing")
    )
    return found


def test_a_quota_lives_from_created_to_updated_and_is_deleted(site: EksSite, cluster: str) -> None:
    client = site.world.client("sagemaker", retries=0)
    quota_id = client.create_compute_quota(**quota(cluster))["ComputeQuotaId"]
    assert refusal(client.create_compute_quota, **quota(cluster)) == "ConflictException"
    assert (ready(client, quota_id)["Status"], ready(client, quota_id)["ComputeQuotaVersion"]) == ("Created", 1)
    changed = {"ComputeQuotaTarget": {"TeamName": "vision", "FairShareWeight": 50}}
    assert refusal(client.update_compute_quota, ComputeQuotaId=quota_id, TargetVersion=2, **changed) == "ConflictException"
    assert client.update_compute_quota(ComputeQuotaId=quota_id, TargetVersion=1, **changed)["ComputeQuotaVersion"] == 2
    assert ready(client, quota_id)["Status"] == "Updated"
    [summary] = client.list_compute_quotas(ClusterArn=cluster)["ComputeQuotaSummaries"]
    assert summary["ComputeQuotaTarget"] == changed["ComputeQuotaTarget"]
    client.delete_compute_quota(ComputeQuotaId=quota_id)
    until(lambda: client.list_compute_quotas(ClusterArn=cluster)["ComputeQuotaSummaries"], lambda found: not found)
    assert refusal(client.delete_compute_quota, ComputeQuotaId=quota_id) == "ResourceNotFound"


def test_people_see_a_quota_at_the_time_of_this_machine(site: EksSite, cluster: str) -> None:
    clock.skip(3 * 86400)
    client, now = site.world.client("sagemaker", retries=0), datetime.now(UTC)
    quota_id = client.create_compute_quota(**quota(cluster))["ComputeQuotaId"]
    ready(client, quota_id)
    client.update_compute_quota(ComputeQuotaId=quota_id, TargetVersion=1, ActivationState="Disabled")
    found = client.describe_compute_quota(ComputeQuotaId=quota_id)
    for time in (found["CreationTime"], found["LastModifiedTime"]):
        assert abs(time - now) < timedelta(hours=12)
    assert client.list_compute_quotas(CreatedBefore=now + timedelta(hours=12))["ComputeQuotaSummaries"]


def test_a_quota_needs_a_cluster_on_eks_with_the_add_on(site: EksSite, cluster: str) -> None:
    client = site.world.client("sagemaker", retries=0)
    assert refusal(client.create_compute_quota, **quota(f"{cluster[:-12]}abcdefghij12")) == "ResourceNotFound"
    site.eks.delete_addon(clusterName="ml", addonName=ADDON)
    assert refusal(client.create_compute_quota, **quota(cluster)) == "ValidationException"


@pytest.mark.fault(90)
@pytest.mark.parametrize("behaviour", ["block", "orphan"])
def test_leftover_quotas_block_the_deletion_or_stay(site: EksSite, cluster: str, behaviour: str) -> None:
    client = site.world.client("sagemaker", retries=0)
    quota_id = client.create_compute_quota(**quota(cluster))["ComputeQuotaId"]
    service_behaviour.choose({"leftover_quotas": behaviour})
    if behaviour == "block":
        assert refusal(client.delete_cluster, ClusterName="ml") == "ConflictException"
        return
    client.delete_cluster(ClusterName="ml")
    site.world.until_gone()
    assert ready(client, quota_id)["Status"] == "Created"


def test_a_call_with_other_tags_is_denied(site: EksSite, cluster: str, caller: Any) -> None:
    quota_id = site.world.sagemaker.create_compute_quota(**quota(cluster, Tags=[{"Key": "team", "Value": "a"}]))["ComputeQuotaId"]
    condition = {"StringEquals": {"aws:ResourceTag/team": "b"}}
    other = caller({"Action": ["sagemaker:DeleteComputeQuota"], "Resource": "*", "Condition": condition})
    assert refusal(other.delete_compute_quota, ComputeQuotaId=quota_id) == "AccessDeniedException"


def test_creating_a_quota_requires_the_right_on_the_cluster_too(site: EksSite, cluster: str, caller: Any) -> None:
    action, quotas = ["sagemaker:CreateComputeQuota"], "arn:aws:sagemaker:us-west-2:123456789012:compute-quota/*"
    rest = {"Action": ["sagemaker:DescribeCluster", "eks:*"], "Resource": "*"}
    assert (
        refusal(caller({"Action": action, "Resource": quotas}, rest).create_compute_quota, **quota(cluster))
        == "AccessDeniedException"
    )
    assert caller({"Action": action, "Resource": [quotas, cluster]}, rest).create_compute_quota(**quota(cluster))


def test_the_resource_converges_and_deletes_its_quotas(site: EksSite, cluster: str) -> None:
    client = site.world.sagemaker
    settings = {name: value for name, value in quota(cluster).items() if name not in ("Name", "ClusterArn")}
    scheduler = {"SchedulerConfig": {"PriorityClasses": [{"Name": "training", "Weight": 80}], "FairShare": "Enabled"}}
    desired = Desired(cluster, {"vision": Item("ml-vision", settings)}, {"": Item("ml", scheduler)}, {"cost-center": "7"})
    progress = Progress({})

    def attempt(call: Any) -> str:
        try:
            return str(call(Work(QuotaApi(client, lambda: 59), OWNER, progress, [], [])))
        except PendingError:
            return ""

    assert until(lambda: attempt(lambda work: converge(work, desired, desired)), bool) == "1 quotas: created 2"
    [found] = client.list_compute_quotas(ClusterArn=cluster)["ComputeQuotaSummaries"]
    tags = {tag["Key"]: tag["Value"] for tag in client.list_tags(ResourceArn=found["ComputeQuotaArn"])["Tags"]}
    assert tags == {"cost-center": "7", **OWNER.tags}
    assert until(lambda: attempt(lambda work: delete(work, cluster)), bool) == "all quotas are deleted"
    assert client.list_cluster_scheduler_configs(ClusterArn=cluster)["ClusterSchedulerConfigSummaries"] == []


def test_an_ordered_failure_shows_its_reason(site: EksSite, cluster: str) -> None:
    durations.change({"hyperpod.quota": 1})
    faults.order(faults.Fault("sagemaker:CreateComputeQuota", kind="fail", message="Kueue is away"))
    found = ready(site.world.sagemaker, site.world.sagemaker.create_compute_quota(**quota(cluster))["ComputeQuotaId"])
    assert (found["Status"], found["FailureReason"]) == ("CreateFailed", "Kueue is away")
