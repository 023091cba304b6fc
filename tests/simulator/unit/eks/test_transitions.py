"""A control plane never outlives its cluster, and a start that fails leaves no files."""

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from local_aws import eks
from local_aws.eks import control_planes, model, network, transitions
from local_aws.eks.control_planes import ControlPlane, ControlPlaneError, Programs
from local_aws.eks.model import Cluster


class Plane:
    endpoint = "https://127.0.0.1:6443"
    certificate_authority = "-----BEGIN CERTIFICATE-----"
    is_running = True

    def stop(self) -> None:
        self.is_running = False


class World:
    """A cluster whose control plane starts once ``may_start`` is set, or fails with ``error``."""

    def __init__(self) -> None:
        self.plane, self.folders = Plane(), list[Path]()
        self.error: Exception | None = None
        self.starts, self.may_start = threading.Event(), threading.Event()
        self.cluster = Cluster("1", "us-west-2", "aws", "ml", "arn:ml", {}, {}, {}, [])

    def create(self) -> None:
        model.add(self.cluster)
        transitions.create(self.cluster, {})

    def start(self, _name: str, folder: Path, **_webhooks: str) -> ControlPlane:
        self.folders.append(folder)
        (folder / "key.pem").touch()
        self.starts.set()
        assert self.may_start.wait(10)
        if self.error:
            raise self.error
        return self.plane


def until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + 5
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setenv("LOCAL_AWS_HOME", str(tmp_path))
    monkeypatch.setattr(network, "detach", lambda _: None)
    made = World()
    control_planes.use(Programs(list, made.start, lambda *_: {}))
    yield made
    eks.reset()
    control_planes.use(control_planes.REAL)


def test_a_reset_ends_the_control_plane_of_a_cluster_that_is_creating(world: World) -> None:
    world.may_start.set()
    world.create()
    until(lambda: world.cluster.plane)
    assert world.cluster.status == "CREATING"

    eks.reset()

    assert not world.plane.is_running


def test_a_control_plane_that_starts_during_a_reset_ends_at_once(world: World) -> None:
    world.create()
    assert world.starts.wait(5)
    eks.reset()

    world.may_start.set()

    until(lambda: not world.plane.is_running)
    assert world.cluster.plane is None


@pytest.mark.parametrize("error", [ControlPlaneError("etcd ended"), OSError("disk full")])
def test_a_start_that_fails_leaves_no_files(world: World, error: Exception, tmp_path: Path) -> None:
    world.error = error
    world.create()
    assert world.starts.wait(5)
    [folder] = world.folders
    assert (folder.parent, folder.stat().st_mode & 0o777) == (tmp_path, 0o700)

    world.may_start.set()

    until(lambda: not folder.exists())
