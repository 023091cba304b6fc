"""Each error is named: the team, the problem and the fix."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.unit.cluster_resource.calls_world import minutes
from tests.unit.quota_resource.fake_quotas import refusal
from tests.unit.quota_resource.quota_world import QuotaWorld, given, quota, settings

Json = dict[str, Any]
ONE = [quota("vision")]


def refuse(world: QuotaWorld, operation: str, error: ClientError) -> None:
    world.quotas.refuses = lambda called, _request: error if called == operation else None


@pytest.mark.fault(91)
@pytest.mark.parametrize("about", [{"team": "vision"}, {"team": "other", "name": "reference-vision"}])
def test_a_quota_of_another_owner_is_named_and_never_changed(world: QuotaWorld, about: Json) -> None:
    theirs = world.quotas.add(**about)
    done = world.do("Create", [quota("robots"), *ONE])
    assert done["Status"] == "FAILED"
    assert done["Reason"] == (
        f"team vision: quota {theirs.name} ({theirs.id}) of the cluster belongs to another owner; "
        "delete it, or remove yours from the cluster file"
    )
    assert world.quotas.writes() == []


def test_a_quota_of_another_owner_that_is_being_deleted_is_waited_for(world: QuotaWorld) -> None:
    world.quotas._start(world.quotas.add("vision"), "Deleting")
    assert world.do("Create", ONE)["Status"] == "SUCCESS"


@pytest.mark.parametrize("kind", ["Creat", "Updat"])
def test_a_failure_of_hyperpod_is_reported_with_its_reason(world: QuotaWorld, kind: str) -> None:
    if kind == "Updat":
        world.do("Create", ONE)
    world.quotas.fails[("vision", kind)] = "Kueue rejected the ClusterQueue"
    done = world.do("Update" if kind == "Updat" else "Create", [quota("vision", 3)], ONE if kind == "Updat" else None)
    word = "updated" if kind == "Updat" else "created"
    [found] = world.quotas.all.values()
    assert done["Status"] == "FAILED"
    assert done["Reason"] == (
        f"team vision: quota reference-vision ({found.id}) was not {word}: Kueue rejected the ClusterQueue; "
        "correct it in the cluster file, then deploy again"
    )


@pytest.mark.fault(90)
def test_a_quota_that_hyperpod_does_not_delete_is_named(world: QuotaWorld) -> None:
    world.do("Create", ONE)
    world.quotas.fails[("vision", "Delet")] = "workloads are admitted"
    done = world.do("Delete", ONE)
    assert done["Status"] == "FAILED"
    assert "was not deleted: workloads are admitted; remove what blocks it, then try again" in done["Reason"]
    world.quotas.fails.clear()
    assert world.do("Delete", ONE)["Status"] == "SUCCESS"
    assert world.quotas.all == {}


@pytest.mark.parametrize("kind", ["Creat", "Updat", "Delet"])
def test_the_next_request_repairs_a_quota_that_failed(world: QuotaWorld, kind: str) -> None:
    if kind != "Creat":
        world.do("Create", ONE)
    world.quotas.fails[("vision", kind)] = "a fault"
    new = [quota("vision", 3)]
    requests: dict[str, Json] = {
        "Creat": {"kind": "Create", "items": new},
        "Updat": {"kind": "Update", "items": new, "old": ONE},
        "Delet": {"kind": "Update", "items": [], "old": ONE},
    }
    assert world.do(**requests[kind])["Status"] == "FAILED"
    world.quotas.fails.clear()
    assert world.do("Update", ONE, requests[kind]["items"])["Status"] == "SUCCESS"
    assert world.ours() == settings(ONE)


def test_a_rejected_quota_is_named_after_the_others_are_done(world: QuotaWorld) -> None:
    error = refusal("ValidationException", "instance type ml.p5.48xlarge is not part of the cluster")

    def check(operation: str, request: Json) -> ClientError | None:
        return error if operation == "CreateComputeQuota" and "speech" in request["Name"] else None

    world.quotas.refuses = check
    done = world.do("Create", [quota("speech"), *ONE])
    assert done["Status"] == "FAILED"
    assert done["Reason"] == (
        "team speech: CreateComputeQuota: ValidationException: instance type ml.p5.48xlarge is not part of the cluster; "
        "correct it in the cluster file, and check that the task governance add-on is ACTIVE, then deploy again"
    )
    assert set(world.ours()) == {"vision"}


@pytest.mark.parametrize("operation", ["ListComputeQuotas", "ListTags", "CreateComputeQuota"])
def test_a_denied_call_is_retried_for_90_seconds_then_named(world: QuotaWorld, operation: str) -> None:
    world.quotas.add("guests")
    refuse(world, operation, refusal("AccessDeniedException", f"no sagemaker:{operation}", 403))
    done = world.do("Create", ONE)
    assert done["Status"] == "FAILED"
    assert f"{operation}: AccessDeniedException: no sagemaker:{operation}" in done["Reason"]
    assert 1.5 <= minutes(world) < 4


def test_a_cluster_that_does_not_exist_is_named(world: QuotaWorld) -> None:
    world.quotas.clusters.clear()
    done = world.do("Create", ONE)
    assert done["Status"] == "FAILED"
    assert done["Reason"].endswith("create the cluster, or correct the ClusterArn, then deploy again")


@pytest.mark.parametrize("code", ["ThrottlingException", "ConflictException", "InternalFailure"])
def test_outages_and_conflicts_are_retried_until_the_deadline(world: QuotaWorld, code: str) -> None:
    refuse(world, "CreateComputeQuota", refusal(code, "later"))
    done = world.do("Create", ONE)
    assert done["Status"] == "FAILED"
    assert done["Reason"] == f"team vision: CreateComputeQuota: {code}: later; deploy again (stopped after 57 minutes)"
    assert 57 <= minutes(world) < 59


def test_a_step_makes_only_calls_that_fit_into_its_time(world: QuotaWorld) -> None:
    world.seconds = lambda: 59 if len(world.quotas.calls) - world.first_call < 4 else 10
    assert world.do("Create", [quota(team) for team in "abcde"])["Status"] == "SUCCESS"
    assert set(world.ours()) == set("abcde")


@pytest.mark.parametrize(
    ("properties", "problem"),
    [
        ({"ClusterArn": "reference"}, "ClusterArn: 'reference' is not the ARN of a HyperPod cluster; pass the cluster's ARN"),
        ({"Quotas": "x"}, "Quotas: not a list; pass a property for each quota"),
        ({"Quotas": ["["]}, "Quotas[0]: not an object; pass an object, or its JSON text"),
        ({"QuotaVision": "x"}, "QuotaVision: not an object; pass an object, or its JSON text"),
        ({"Quotas": ["{}"]}, "Quotas[0]: lacks Name, ComputeQuotaConfig, ComputeQuotaTarget; add it"),
        ({"SchedulerConfig": "{}"}, "SchedulerConfig: lacks Name, SchedulerConfig; add it"),
        ({"Tags": [{"Key": "aws:x", "Value": "1"}]}, "Tags: aws:x is reserved; remove it"),
        (given([*ONE, *ONE]), "QuotaVisionx2: team 'vision' has two quotas; remove one"),
        (given([{**ONE[0], "Tags": []}]), "QuotaVision: unknown members Tags; remove them"),
    ],
)
def test_a_wrong_property_is_named_before_any_call(world: QuotaWorld, properties: Json, problem: str) -> None:
    raw = world.request("Create", [])
    raw["ResourceProperties"] = {**raw["ResourceProperties"], **properties}
    done = world.finish(raw)
    assert (done["Status"], done["Reason"]) == ("FAILED", problem)
    assert world.quotas.calls == []
    deletion = {**raw, "RequestType": "Delete", "RequestId": "d", "PhysicalResourceId": done["PhysicalResourceId"]}
    if "ClusterArn" in properties and problem.startswith("ClusterArn"):
        assert world.finish(deletion)["Status"] == "SUCCESS"
