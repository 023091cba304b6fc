"""Create, update and delete of quotas without faults."""

import json

import pytest
from botocore.exceptions import ClientError

from cluster_request.property_values import property_value
from cluster_resource.event import VERSION_TAG
from tests.unit.quota_resource.fake_quotas import CLUSTER, OTHER_CLUSTER, refusal
from tests.unit.quota_resource.quota_world import ID, OURS, Json, QuotaWorld, quota, scheduler, settings

OLD = [quota("vision"), quota("speech", 1)]


def test_a_creation_creates_every_quota_and_waits_for_it(world: QuotaWorld) -> None:
    done = world.do("Create", OLD)
    assert (done["Status"], done["PhysicalResourceId"], done["Reason"]) == ("SUCCESS", ID, "2 quotas: created 2")
    assert done["Data"] == {"Result": "2 quotas: created 2"}
    assert world.ours() == settings(OLD)
    assert {each.status for each in world.quotas.all.values()} == {"Created"}


@pytest.mark.fault(44)
def test_an_update_from_the_quotas_of_an_older_release_changes_only_what_differs(world: QuotaWorld) -> None:
    older: Json = {"Quotas": [json.dumps(each) for each in OLD], "SchedulerConfig": scheduler()}
    world.do("Create", [], **older)
    assert world.ours() == settings(OLD)
    raw = world.request("Update", [quota("vision", 5)], OLD, SchedulerConfig=property_value(json.loads(scheduler())))
    raw["OldResourceProperties"] = world.request("Create", [], **older)["ResourceProperties"]
    assert world.finish(raw)["Reason"] == "1 quotas: updated 1, deleted 1"
    assert world.ours() == settings([quota("vision", 5)])


def test_numbers_keep_their_types(world: QuotaWorld) -> None:
    world.do("Create", [quota("vision", 7)])
    resources = world.quotas.of("vision").settings["ComputeQuotaConfig"]["ComputeQuotaResources"]
    assert [each.get("Count") or each.get("VCpu") for each in resources] == [7, 4.5]


def test_quotas_carry_the_owner_and_the_tags_of_the_user(world: QuotaWorld) -> None:
    world.do("Create", OLD, Tags=[{"Key": "cost-center", "Value": "7"}])
    assert world.quotas.of("vision").tags == {**OURS, VERSION_TAG: "1", "cost-center": "7"}


def test_changed_tags_change_only_the_tags_of_the_user(world: QuotaWorld) -> None:
    old, new = ([{"Key": key, "Value": "7"}] for key in ("cost-center", "project"))
    world.do("Create", OLD, Tags=old)
    assert world.do("Update", OLD, OLD, Tags=new, before={"Tags": old})["Status"] == "SUCCESS"
    assert world.quotas.of("speech").tags == {**OURS, VERSION_TAG: "1", "project": "7"}
    assert "UpdateComputeQuota" not in world.quotas.writes()


def test_an_unchanged_update_changes_nothing(world: QuotaWorld) -> None:
    world.do("Create", OLD)
    before = len(world.quotas.writes())
    assert world.do("Update", OLD, OLD)["Reason"] == "2 quotas: nothing changed"
    assert len(world.quotas.writes()) == before


def test_an_update_creates_changes_and_deletes(world: QuotaWorld) -> None:
    world.do("Create", OLD)
    new = [quota("vision", 5), quota("robots")]
    done = world.do("Update", new, OLD)
    assert (done["Status"], done["Reason"]) == ("SUCCESS", "2 quotas: created 1, updated 1, deleted 1")
    assert world.ours() == settings(new)
    assert world.quotas.of("vision").version == 2


def test_a_member_that_was_removed_from_the_template_is_sent(world: QuotaWorld) -> None:
    """The service's default takes its place, which a comparison with the service does not show."""
    old = [quota("vision", ResourceSharingConfig={"Strategy": "LendAndBorrow", "BorrowLimit": 50})]
    new = [quota("vision", ResourceSharingConfig={"Strategy": "LendAndBorrow"})]
    world.do("Create", old)
    assert world.do("Update", new, old)["Reason"] == "1 quotas: updated 1"
    assert world.ours() == settings(new)


def test_a_quota_that_was_changed_or_deleted_outside_is_restored(world: QuotaWorld) -> None:
    world.do("Create", OLD)
    world.quotas.of("vision").settings = settings([quota("vision", 9)])["vision"]
    del world.quotas.all[world.quotas.of("speech").id]
    assert world.do("Update", OLD, OLD)["Status"] == "SUCCESS"
    assert world.ours() == settings(OLD)


def test_a_deletion_deletes_only_our_quotas_and_verifies(world: QuotaWorld) -> None:
    world.do("Create", OLD)
    theirs = world.quotas.add("guests")
    done = world.do("Delete", OLD)
    assert (done["Status"], done["PhysicalResourceId"], done["Reason"]) == ("SUCCESS", ID, "all quotas are deleted")
    assert list(world.quotas.all.values()) == [theirs]


@pytest.mark.parametrize("is_created", [True, False])
def test_a_deletion_tolerates_absent_quotas_and_a_deleted_cluster(world: QuotaWorld, is_created: bool) -> None:
    if is_created:
        world.do("Create", OLD)
        world.quotas.all.clear()
    world.quotas.clusters.clear()
    assert world.do("Delete", OLD)["Status"] == "SUCCESS"


def test_quotas_of_another_cluster_are_another_resource(world: QuotaWorld) -> None:
    """CloudFormation then deletes the old one."""
    world.do("Create", OLD)
    done = world.do("Update", OLD, OLD, ClusterArn=OTHER_CLUSTER, before={"ClusterArn": CLUSTER})
    assert (done["Status"], done["PhysicalResourceId"]) == ("SUCCESS", "compute-quotas/zyxwvutsrq98")
    assert world.ours(OTHER_CLUSTER) == settings(OLD)
    assert world.ours() == settings(OLD)
    assert world.do("Delete", OLD)["Status"] == "SUCCESS"
    assert (world.ours(), world.ours(OTHER_CLUSTER)) == ({}, settings(OLD))


def test_the_rollback_to_the_old_cluster_deletes_the_quotas_on_the_new_one(world: QuotaWorld) -> None:
    world.do("Create", OLD)
    world.quotas.fails[("speech", "Creat")] = "no capacity"
    failed = world.do("Update", OLD, OLD, ClusterArn=OTHER_CLUSTER, before={"ClusterArn": CLUSTER})
    assert (failed["Status"], failed["PhysicalResourceId"]) == ("FAILED", ID)
    world.quotas.fails.clear()
    assert world.do("Update", OLD, OLD, before={"ClusterArn": OTHER_CLUSTER})["Status"] == "SUCCESS"
    assert (world.ours(), world.ours(OTHER_CLUSTER)) == (settings(OLD), {})


def test_an_update_waits_for_compute_that_a_deletion_frees(world: QuotaWorld) -> None:
    world.do("Create", OLD)

    def limit(operation: str, _request: object) -> ClientError | None:
        is_full = operation == "CreateComputeQuota" and "speech" in world.ours()
        return refusal("ResourceLimitExceeded", "the quotas exceed the cluster") if is_full else None

    world.quotas.refuses = limit
    done = world.do("Update", [quota("vision"), quota("robots")], OLD)
    assert done["Status"] == "SUCCESS", done
