"""A software update that is rolled back leaves the cluster InService: only the group shows it."""

import pytest

from tests.unit.cluster_resource.fake_cluster import FakeCluster
from tests.unit.cluster_resource.test_waits import wait_event
from tests.unit.cluster_resource.updates import CONTROLLER, FOUR, Json, update, workers
from tests.unit.cluster_resource.world import World, properties, request

OLD, NEW = "1.0.0", "1.1.0"


def with_image(version: str, **more: str) -> Json:
    return properties(request(CONTROLLER, workers(4, ImageReleaseVersion=version)), **more)


class SoftwareUpdates:
    """What DescribeCluster says of the workers' image, beside what the control plane says of the rest."""

    def __init__(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        self.current, self.status = OLD, ""
        self._world, self._whole = world, world.sagemaker.describe_cluster
        monkeypatch.setattr(world.sagemaker, "describe_cluster", self._describe)

    @property
    def cluster(self) -> FakeCluster:
        return self._world.sagemaker.all[0]

    def _describe(self, **arguments: str) -> Json:
        described = self._whole(**arguments)
        for shown in described["InstanceGroups"]:
            asked = shown.pop("ImageReleaseVersion", None)
            if shown["InstanceGroupName"] == "workers":
                shown.update(CurrentImageReleaseVersion=self.current, DesiredImageReleaseVersion=asked or self.current)
                shown.update({"SoftwareUpdateStatus": self.status} if self.status else {})
        return described


@pytest.fixture
def software(world: World, monkeypatch: pytest.MonkeyPatch) -> SoftwareUpdates:
    return SoftwareUpdates(world, monkeypatch)


@pytest.mark.fault(24)
@pytest.mark.parametrize("status", ["Failed", "RollbackComplete"])
def test_an_image_update_that_is_rolled_back_fails_the_update_of_a_cluster_in_service(
    world: World, software: SoftwareUpdates, status: str
) -> None:
    name = world.create(with_image(OLD))["PhysicalResourceId"]
    software.status = status
    done = update(world, name, with_image(NEW), with_image(NEW))
    assert software.cluster.status == "InService"
    assert done["Status"] == "FAILED"
    assert "rolled back the update" in done["Reason"]
    assert "workers.ImageReleaseVersion" in done["Reason"]


@pytest.mark.fault(24)
def test_an_image_update_that_was_rolled_back_is_requested_again_by_the_next_update(
    world: World, software: SoftwareUpdates
) -> None:
    name = world.create(with_image(OLD))["PhysicalResourceId"]
    software.status = "Failed"
    update(world, name, with_image(NEW), with_image(NEW))
    software.cluster.groups["workers"]["ImageReleaseVersion"] = NEW
    world.sagemaker.calls.clear()
    raw = world.deliver(world.event("Update", with_image(NEW), with_image(NEW), name))
    world.run(100)
    software.status, software.current = "Succeeded", NEW
    world.run()
    assert world.response(raw)["Status"] == "SUCCESS"
    assert world.sagemaker.changes() == ["UpdateCluster"]


@pytest.mark.fault(24)
def test_the_rollback_of_a_failed_image_update_makes_no_call(world: World, software: SoftwareUpdates) -> None:
    name = world.create(with_image(OLD))["PhysicalResourceId"]
    software.status = "Failed"
    update(world, name, with_image(NEW), with_image(NEW))
    world.sagemaker.calls.clear()
    assert update(world, name, with_image(OLD), with_image(NEW))["Status"] == "SUCCESS"
    assert not world.sagemaker.changes()


@pytest.mark.parametrize("image", [OLD, ""])
def test_an_old_failed_software_update_does_not_fail_an_update_of_counts(
    world: World, software: SoftwareUpdates, image: str
) -> None:
    old = with_image(image) if image else FOUR
    name = world.create(old)["PhysicalResourceId"]
    software.status = "Failed"
    more = {"ImageReleaseVersion": image} if image else {}
    assert update(world, name, properties(request(CONTROLLER, workers(6, **more))), old)["Status"] == "SUCCESS"


@pytest.mark.fault(24)
def test_a_wait_of_another_hour_detects_it_too(world: World, software: SoftwareUpdates) -> None:
    name = world.create(with_image(OLD))["PhysicalResourceId"]
    software.cluster.become("SystemUpdating")
    raw = world.deliver(wait_event(world, name, "Update"))
    world.run(100)
    software.cluster.become("InService", "the new image did not boot")
    software.status = "Failed"
    world.run(200)
    done = world.response(raw)
    assert done["Status"] == "FAILED"
    assert "workers another image" in done["Reason"]
    assert "the new image did not boot" in done["Reason"]


def test_a_wait_ignores_an_earlier_failed_software_update(world: World, software: SoftwareUpdates) -> None:
    name = world.create(with_image(OLD))["PhysicalResourceId"]
    software.status = "Failed"
    assert world.finish(wait_event(world, name, "Update"))["Status"] == "SUCCESS"
