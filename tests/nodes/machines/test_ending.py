"""Whatever ends a hub, nothing of it stays: no process, namespace, mount or cgroup."""

import os
import re
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from local_aws.nodes import cgroups, support
from local_aws.nodes.hub import HostError, Hub
from local_aws.nodes.registry import Registry
from local_aws.nodes.sweep import sweep
from tests.nodes.machines.some_nodes import Nodes, comes, vpc_with_file_systems

OWNER = """
import signal, sys, time
from pathlib import Path
from local_aws.nodes import support
from local_aws.nodes.hub import Hub, NodeSpec, Vpc

signal.signal(signal.SIGINT, signal.default_int_handler)  # who runs the tests in the background has it ignored
hub = Hub(Path(sys.argv[1]), support.image(), Vpc("us-west-2", ("10.1.0.0/16",), "10.1.0.2"))
hub.start()
try:
    hub.boot(NodeSpec("i-1", "ip-10-1-4-1", "10.1.4.1"))
    print("booted", flush=True)
    time.sleep(600)
finally:
    hub.end()
"""
NAMESPACES = ("mnt", "net", "pid", "ipc", "uts", "cgroup")


def namespaces(folder: Path) -> set[str]:
    """The namespaces of all processes, except those of other hubs: the kernel gives them the numbers of namespaces that ended."""
    found = set()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if is_of_another_hub(process, folder):
                continue
            found |= {str((process / "ns" / name).readlink()) for name in NAMESPACES}
        except OSError:
            continue  # the process has ended meanwhile
    return found


def is_of_another_hub(process: Path, folder: Path) -> bool:
    own = cgroups.name_for(folder)
    return any(name != own for name in re.findall(r"/(hyperpod-cdk-[^/\n]+)", (process / "cgroup").read_text()))


def processes(folder: Path) -> list[int]:
    """The processes in the cgroups of the hub in ``folder``."""
    top = cgroups.hierarchy() / cgroups.name_for(folder)
    found: list[int] = []
    for place, _, _ in os.walk(top):  # cgroups may go meanwhile
        with suppress(OSError):
            found += [int(pid) for pid in (Path(place) / "cgroup.procs").read_text().split()]
    return found


def namespaces_of(folder: Path) -> set[str]:
    """The namespaces of a hub and its nodes that are not the machine's own."""
    ours = {str(Path(f"/proc/self/ns/{name}").readlink()) for name in NAMESPACES}
    links = (Path(f"/proc/{pid}/ns/{name}") for pid in processes(folder) for name in NAMESPACES)
    found: set[str] = set()
    for link in links:
        with suppress(OSError):  # the process has ended meanwhile
            found.add(str(link.readlink()))
    return found - ours


def is_clean(folder: Path, used: set[str]) -> bool:
    entries = [entry.folder for entry in Registry().entries()]
    cgroup = cgroups.hierarchy() / cgroups.name_for(folder)
    return not (cgroup.exists() or (folder / "hub.sock").exists() or str(folder) in entries or used & namespaces(folder))


@pytest.fixture
def owner(tmp_path: Path) -> subprocess.Popen[str]:
    """A process that has a hub with one node in ``tmp_path / 'hub'``."""
    process = subprocess.Popen([sys.executable, "-c", OWNER, str(tmp_path / "hub")], stdout=subprocess.PIPE, text=True)
    assert process.stdout
    with process.stdout:
        assert process.stdout.readline() == "booted\n"
    return process


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_nothing_stays_when_the_owner_is_killed(owner: subprocess.Popen[str], tmp_path: Path, number: signal.Signals) -> None:
    used = namespaces_of(tmp_path / "hub")
    assert len(used) >= 9  # the hub's own four, and what nspawn makes for the node

    owner.send_signal(number)
    owner.wait()

    assert comes(lambda: is_clean(tmp_path / "hub", used))


def test_nothing_lives_on_when_the_guardian_is_killed_and_a_sweep_clears_the_rest(
    owner: subprocess.Popen[str], tmp_path: Path
) -> None:
    used = namespaces_of(tmp_path / "hub")
    (entry,) = (entry for entry in Registry().entries() if entry.folder == str(tmp_path / "hub"))

    signal.pidfd_send_signal(open_process(entry.guardian), signal.SIGKILL)

    assert comes(lambda: not processes(tmp_path / "hub"))
    assert sweep(tmp_path) in ([tmp_path / "hub"], [])  # a hub that starts elsewhere clears dead ones, too
    assert comes(lambda: is_clean(tmp_path / "hub", used))
    owner.kill()
    owner.wait()


def open_process(pid: int) -> int:
    return os.pidfd_open(pid)


def test_a_sweep_ends_a_hub_that_lives(owner: subprocess.Popen[str], tmp_path: Path) -> None:
    used = namespaces_of(tmp_path / "hub")

    assert sweep(tmp_path / "hub") == [tmp_path / "hub"]

    assert comes(lambda: is_clean(tmp_path / "hub", used))
    assert sweep(tmp_path / "hub") == []
    owner.kill()
    owner.wait()


def test_a_stopped_node_leaves_nothing_and_the_others_run_on(nodes: Nodes) -> None:
    folder, stays = nodes.hub.folder, nodes.boot()
    before = namespaces_of(folder)
    goes = nodes.boot()
    used = namespaces_of(folder) - before
    assert used

    nodes.hub.stop(goes.id)
    nodes.hub.stop(goes.id)

    assert comes(lambda: not used & namespaces(folder))
    assert not (cgroups.hierarchy() / cgroups.name_for(folder) / goes.id).exists()
    assert nodes.sh(stays, "hostname") == [stays.hostname]


def test_two_hubs_with_the_same_addresses_do_not_meet(nodes: Nodes, tmp_path: Path) -> None:
    other = Nodes(Hub(tmp_path / "hub", support.image(), vpc_with_file_systems(tmp_path)))
    other.hub.start()
    mine, theirs = nodes.boot(address="10.1.9.9"), other.boot(address="10.1.9.9")

    used = namespaces_of(tmp_path / "hub")
    nodes.sh(mine, "touch /var/mine")
    assert other.sh(theirs, "ls /var/mine 2>/dev/null || echo not here") == ["not here"]
    other.hub.end()

    assert is_clean(tmp_path / "hub", used)
    assert nodes.sh(mine, "ls /var/mine") == ["/var/mine"]


def test_a_second_hub_in_one_folder_is_refused(nodes: Nodes) -> None:
    with pytest.raises(HostError, match=f"another hub lives in {nodes.hub.folder}"):
        Hub(nodes.hub.folder, nodes.hub.image, nodes.hub.vpc).start()

    assert nodes.hub.states() is not None


def test_a_hub_that_ended_says_so_and_can_be_started_again(tmp_path: Path) -> None:
    hub = Hub(tmp_path / "hub", support.image(), vpc_with_file_systems(tmp_path))
    hub.start()
    hub.end()
    hub.end()
    with pytest.raises(HostError, match=f"no hub runs in {tmp_path / 'hub'}"):
        hub.states()

    hub.start()
    assert hub.states() == {}
    hub.end()
