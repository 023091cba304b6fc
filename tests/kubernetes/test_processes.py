"""A control plane ends with the process that started it, and leaves nothing."""

import dataclasses
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from local_aws.kubernetes import control_plane
from local_aws.kubernetes.commands import Ports
from local_aws.kubernetes.control_plane import ControlPlane, KubernetesError
from tests.kubernetes.running import processes, until

ROOT = Path(__file__).parents[2]
NAMES = {"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"}
NO_WEBHOOK = "http://127.0.0.1:9/"
OWNER = """
import sys, time
from pathlib import Path
from local_aws.kubernetes import control_plane
print(control_plane.start("ml", Path(sys.argv[1]), token_webhook="http://127.0.0.1:9/").endpoint, flush=True)
time.sleep(600)
"""


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[], ControlPlane]]:
    started = []

    def run() -> ControlPlane:
        started.append(control_plane.start("ml", tmp_path / "plane", token_webhook=NO_WEBHOOK))
        return started[-1]

    yield run
    for plane in started:
        plane.stop()


def programs(folder: Path) -> dict[str, int]:
    found = {Path(words[0]).name: pid for pid, words in processes(folder).items()}
    return {name: pid for name, pid in found.items() if name in NAMES}


def listens(endpoint: str) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", urlsplit(endpoint).port)) == 0


def test_a_stopped_control_plane_leaves_nothing(start: Callable[[], ControlPlane]) -> None:
    # As the embedded AWS does: the thread that starts it ends long before it.
    planes: list[ControlPlane] = []
    thread = threading.Thread(target=lambda: planes.append(start()))
    thread.start()
    thread.join()
    [plane] = planes
    assert set(programs(plane.folder)) == NAMES
    assert listens(plane.endpoint)

    for _ in range(2):
        plane.stop()

        assert processes(plane.folder) == {}
        assert not listens(plane.endpoint)
        assert not plane.folder.exists()


def test_a_control_plane_ends_with_its_killed_owner(tmp_path: Path) -> None:
    folder = tmp_path / "plane"
    with subprocess.Popen([sys.executable, "-c", OWNER, str(folder)], cwd=ROOT, stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        endpoint = owner.stdout.readline().strip()
        assert set(programs(folder)) == NAMES

        owner.kill()

    until(lambda: not folder.exists() and not processes(folder))
    assert not listens(endpoint)


def test_a_control_plane_ends_with_its_killed_guardian(start: Callable[[], ControlPlane]) -> None:
    plane = start()
    [guardian] = [pid for pid, words in processes(plane.folder).items() if "local_aws.kubernetes.guardian" in words]

    os.kill(guardian, signal.SIGKILL)

    until(lambda: not programs(plane.folder))
    plane.stop()
    assert not plane.folder.exists()


def test_a_port_that_another_process_took_is_replaced_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    free, chosen = control_plane._free_ports, list[Ports]()
    with socket.create_server(("127.0.0.1", 0)) as taken:

        def choose() -> Ports:
            chosen.append(dataclasses.replace(free(), api=taken.getsockname()[1]))
            return chosen[-1]

        monkeypatch.setattr(control_plane, "_free_ports", choose)
        with pytest.raises(KubernetesError, match="address already in use"):
            control_plane.start("ml", tmp_path / "plane", token_webhook=NO_WEBHOOK)

    assert len(chosen) == 2


def test_a_program_that_dies_is_named_with_its_last_words(tmp_path: Path) -> None:
    folder = tmp_path / "plane"
    with pytest.raises(KubernetesError, match=r"kube-apiserver ended with status 1; its last lines:(?s:.*)no-such-scheme"):
        control_plane.start("ml", folder, token_webhook="no-such-scheme://x y")
    assert processes(folder) == {}
    assert not folder.exists()
