"""A cluster is created once, with the name from its event, and the response is sent when its nodes run."""

import pytest

from tests.unit.cluster_resource.fake_sagemaker import LostReply, Refusal
from tests.unit.cluster_resource.world import ROLE, STACK, World, group, properties, request


def test_a_create_succeeds_once_the_nodes_run(world: World) -> None:
    done = world.finish(world.event("Create", properties()))
    (name,) = world.sagemaker.living()
    cluster = world.sagemaker.find(name)
    assert cluster
    assert done["Status"] == "SUCCESS"
    assert done["PhysicalResourceId"] == name
    ids = {"ClusterArn": cluster.arn, "ClusterName": name, "ClusterId": cluster.arn.split("/")[1]}
    assert done["Data"] == {**ids, "MissingNodes": "none"}
    assert world.sagemaker.changes() == ["CreateCluster"]


def test_create_cluster_sets_the_ownership_tags(world: World) -> None:
    world.create(properties(request(Tags=[{"Key": "team", "Value": "ml"}])))
    (name,) = world.sagemaker.living()
    cluster = world.sagemaker.find(name)
    assert cluster
    assert cluster.tags["hyperpod-cdk:stack-id"] == STACK
    assert cluster.tags["team"] == "ml"


@pytest.mark.fault(43)
def test_scalars_sent_as_strings_get_their_types_back(world: World) -> None:
    volume = {"EbsVolumeConfig": {"VolumeSizeInGB": 500, "RootVolume": False}}
    world.finish(world.event("Create", properties(request(group("controller", 1, InstanceStorageConfigs=[volume])))))
    (sent,) = world.sagemaker.made("CreateCluster")
    (sent_group,) = sent["InstanceGroups"]
    assert sent_group["InstanceCount"] == 1
    assert sent_group["InstanceStorageConfigs"] == [volume]


def test_an_unknown_field_is_refused_with_its_path(world: World) -> None:
    done = world.finish(world.event("Create", properties(request(group("controller", 1, Color="red")))))
    assert done["Status"] == "FAILED"
    assert "Request.InstanceGroups[0].Color" in done["Reason"]
    assert not world.sagemaker.calls


@pytest.mark.fault(1)
def test_a_lost_reply_of_create_cluster_results_in_one_cluster(world: World) -> None:
    world.sagemaker.order("CreateCluster", LostReply())
    assert world.finish(world.event("Create", properties()))["Status"] == "SUCCESS"
    assert len(world.sagemaker.all) == 1


@pytest.mark.fault(1)
def test_our_own_cluster_in_use_is_accepted_even_if_reads_are_stale(world: World) -> None:
    world.sagemaker.order("CreateCluster", LostReply())
    world.sagemaker.stale_s = 70
    assert world.finish(world.event("Create", properties()))["Status"] == "SUCCESS"
    assert len(world.sagemaker.all) == 1
    assert len(world.sagemaker.made("CreateCluster")) > 1


@pytest.mark.fault(2)
@pytest.mark.fault(55)
def test_a_cluster_of_another_owner_is_named_and_survives_the_rollback(world: World) -> None:
    world.create_outside("shared", **request())
    fixed = properties(ClusterName="shared")
    done = world.finish(world.event("Create", fixed))
    theirs = world.sagemaker.all[0]
    assert done["Status"] == "FAILED"
    assert theirs.arn in done["Reason"]
    deleted = world.finish(world.event("Delete", fixed, physical_id=done["PhysicalResourceId"]))
    assert deleted["Status"] == "SUCCESS"
    assert world.sagemaker.living() == ["shared"]
    assert "DeleteCluster" not in world.sagemaker.changes()


@pytest.mark.fault(3)
def test_a_role_that_cannot_be_assumed_yet_is_waited_for(world: World) -> None:
    world.sagemaker.order("CreateCluster", Refusal("ValidationException", "SageMaker cannot assume the execution role"), 4)
    assert world.finish(world.event("Create", properties()))["Status"] == "SUCCESS"


@pytest.mark.fault(3)
def test_a_role_that_cannot_be_assumed_for_five_minutes_is_named(world: World) -> None:
    world.sagemaker.order("CreateCluster", Refusal("ValidationException", "SageMaker cannot assume the execution role"), 99)
    begin = world.clock.now
    done = world.finish(world.event("Create", properties()))
    assert done["Status"] == "FAILED"
    assert ROLE in done["Reason"]
    assert 300 <= (world.clock.now - begin).total_seconds() <= 360


@pytest.mark.fault(4)
def test_another_validation_error_fails_at_once_with_its_message(world: World) -> None:
    world.sagemaker.order("CreateCluster", Refusal("ValidationException", "Subnets must be in one VPC"))
    done = world.finish(world.event("Create", properties()))
    assert "ValidationException: Subnets must be in one VPC" in done["Reason"]
    assert len(world.sagemaker.made("CreateCluster")) == 1


@pytest.mark.fault(5)
@pytest.mark.parametrize("operation", ["CreateCluster", "DescribeCluster"])
def test_a_missing_permission_is_retried_and_then_named(world: World, operation: str) -> None:
    world.sagemaker.order(operation, Refusal("AccessDeniedException", f"not authorized to perform sagemaker:{operation}"), 2)
    assert world.finish(world.event("Create", properties()))["Status"] == "SUCCESS"
    other = World()
    other.sagemaker.order(operation, Refusal("AccessDeniedException", f"not authorized to perform sagemaker:{operation}"), 99)
    begin = other.clock.now
    done = other.finish(other.event("Create", properties()))
    assert done["Status"] == "FAILED"
    assert f"sagemaker:{operation}" in done["Reason"]
    assert 90 <= (other.clock.now - begin).total_seconds() <= 150


@pytest.mark.fault(6)
@pytest.mark.parametrize("operation", ["CreateCluster", "DescribeCluster", "ListTags", "ListClusterNodes"])
def test_ten_throttles_and_outages_in_a_row_do_not_fail_a_request(world: World, operation: str) -> None:
    world.sagemaker.order(operation, Refusal("ThrottlingException"), 10)
    world.sagemaker.order(operation, Refusal("InternalFailure", status=500), 10)
    assert world.finish(world.event("Create", properties()))["Status"] == "SUCCESS"
    assert len(world.sagemaker.all) == 1


@pytest.mark.fault(6)
def test_a_service_that_never_replies_is_reported_at_the_deadline(world: World) -> None:
    world.sagemaker.order("DescribeCluster", Refusal("ThrottlingException", "Rate exceeded"), 999)
    begin = world.clock.now
    done = world.finish(world.event("Create", properties()))
    assert done["Status"] == "FAILED"
    assert "Rate exceeded" in done["Reason"]
    assert (world.clock.now - begin).total_seconds() < 59 * 60


@pytest.mark.fault(7)
def test_a_quota_is_reported_with_its_name_and_its_numbers(world: World) -> None:
    text = (
        "The account-level service limit 'ml.trn1.32xlarge for cluster usage' is 2 Instances, with current utilization of 1 "
        "Instances and a request delta of 4 Instances."
    )
    world.sagemaker.order("CreateCluster", Refusal("ResourceLimitExceeded", text))
    reason = world.finish(world.event("Create", properties()))["Reason"]
    assert "quota 'ml.trn1.32xlarge for cluster usage' is 2: 1 in use, 4 more requested" in reason
    assert "Service Quotas" in reason


@pytest.mark.fault(8)
@pytest.mark.fault(35)
def test_missing_capacity_is_reported_with_type_and_zone_and_the_rollback_deletes_the_rest(world: World) -> None:
    world.sagemaker.creation_fails = "We currently do not have sufficient capacity to launch new ml.trn1.32xlarge instances."
    wanted = properties(AvailabilityZoneId="usw2-az4")
    done = world.finish(world.event("Create", wanted))
    assert done["Status"] == "FAILED"
    assert "ml.trn1.32xlarge in usw2-az4" in done["Reason"]
    assert f"/aws/sagemaker/Clusters/{done['PhysicalResourceId']}/" in done["Reason"]
    assert world.finish(world.event("Delete", wanted, physical_id=done["PhysicalResourceId"]))["Status"] == "SUCCESS"
    assert world.sagemaker.living() == []


@pytest.mark.fault(9)
def test_the_first_failure_message_is_kept_when_the_service_rolls_back(world: World) -> None:
    world.sagemaker.creation_fails = "Lifecycle scripts did not run successfully"
    reason = world.finish(world.event("Create", properties()))["Reason"]
    assert "Lifecycle scripts did not run successfully" in reason
    assert "Rollback completed" not in reason


@pytest.mark.parametrize("slow", [True, False])
def test_a_failed_creation_names_what_the_rollback_keeps_and_an_update_does_not(world: World, *, slow: bool) -> None:
    kept = "the Network and Storage stacks stay and can cost money"
    if slow:
        world.sagemaker.creation_s = 99_999
    else:
        world.sagemaker.creation_fails = "Lifecycle scripts did not run successfully"
    done = world.finish(world.event("Create", properties()))
    assert kept in done["Reason"]
    update = world.event("Update", properties(ClusterName="other"), physical_id=done["PhysicalResourceId"], old=properties())
    updated = world.finish(update)
    assert (updated["Status"], kept in updated["Reason"]) == ("FAILED", False)


@pytest.mark.parametrize("is_confirmed", [True, False])
def test_a_cluster_that_disappears_is_a_failure_and_is_not_created_again(world: World, *, is_confirmed: bool) -> None:
    if not is_confirmed:
        world.sagemaker.order("CreateCluster", LostReply())
    raw = world.deliver(world.event("Create", properties()))
    world.run(120)
    world.sagemaker.all[0].go()
    world.run()
    assert "disappeared" in world.response(raw)["Reason"]
    assert len(world.sagemaker.all) == 1


def test_an_accepted_creation_is_awaited_and_not_repeated(world: World) -> None:
    world.sagemaker.stale_s = 100
    assert world.finish(world.event("Create", properties()))["Status"] == "SUCCESS"
    assert len(world.sagemaker.made("CreateCluster")) == 1


def test_one_read_without_the_cluster_is_not_enough(world: World) -> None:
    raw = world.deliver(world.event("Create", properties()))
    world.run(120)
    world.sagemaker.order("DescribeCluster", Refusal("ResourceNotFound"))
    world.run()
    assert world.response(raw)["Status"] == "SUCCESS"


def test_the_file_cannot_set_ownership_tags(world: World) -> None:
    claimed = [{"Key": "hyperpod-cdk:stack-id", "Value": "other"}, {"Key": "hyperpod-cdk:cluster", "Value": "reference"}]
    world.create(properties(request(Tags=claimed)))
    assert world.sagemaker.all[0].tags["hyperpod-cdk:stack-id"] == STACK
    assert world.sagemaker.all[0].tags["hyperpod-cdk:cluster"] == "reference"


@pytest.mark.fault(15)
@pytest.mark.parametrize(("wait", "seconds"), [("cluster", 60), ("none", 60)])
def test_wait_can_skip_the_nodes(world: World, wait: str, seconds: int) -> None:
    raw = world.deliver(world.event("Create", properties(Wait=wait)))
    world.run(30)
    if wait == "cluster":
        world.sagemaker.all[0].become("InService")
    world.run(seconds)
    assert world.response(raw)["Status"] == "SUCCESS"


@pytest.mark.fault(23)
def test_every_page_of_nodes_is_read(world: World) -> None:
    world.finish(world.event("Create", properties(request(group("controller", 1), group("workers", 250)))))
    pages = world.sagemaker.made("ListClusterNodes")
    assert [page.get("NextToken") for page in pages][-3:] == [None, "100", "200"]


def test_a_cluster_that_is_not_ready_at_the_deadline_fails_with_its_node_counts(world: World) -> None:
    world.sagemaker.creation_s = 99_999
    done = world.finish(world.event("Create", properties()))
    assert done["Status"] == "FAILED"
    assert "still Creating after 57 minutes: controller 0 of 1 (1 Pending), workers 0 of 4 (4 Pending);" in done["Reason"]


def test_an_earlier_cluster_with_the_same_name_is_deleted_before_the_new_one_is_created(world: World) -> None:
    done = world.create()
    world.sagemaker.deletion_s = 1000
    world.sagemaker.delete_cluster(ClusterName=done["PhysicalResourceId"])
    again = world.finish(world.event("Create", properties()))
    assert again["Status"] == "SUCCESS"
    assert again["PhysicalResourceId"] == done["PhysicalResourceId"]
    assert again["Data"]["ClusterArn"] != done["Data"]["ClusterArn"]


@pytest.mark.fault(58)
@pytest.mark.parametrize("groups", [[group("workers", 4)], [group("controller", 0), group("workers", 4)]])
def test_a_cluster_without_a_controller_is_refused_before_any_call(world: World, groups: list[dict[str, object]]) -> None:
    done = world.finish(world.event("Create", properties(request(*groups), ControllerGroup="controller")))
    assert "controller group 'controller' must have at least one node" in done["Reason"]
    assert not world.sagemaker.changes()
