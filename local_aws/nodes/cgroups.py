"""The cgroups of a hub: one for itself and one per node, below one whose name derives from the hub's folder."""

import hashlib
import os
import time
from pathlib import Path

from local_aws.builds.errors import HostError

_GONE_S = 10.0
_VERSION_1 = {
    *("blkio", "cpu", "cpuacct", "cpuset", "devices", "freezer", "hugetlb"),
    *("memory", "net_cls", "net_prio", "perf_event", "pids", "rdma", "misc"),
}
_WANTED = ("cpu", "cpuset", "io", "memory", "pids")


def name_for(folder: Path) -> str:
    """Return the cgroup name of the hub in ``folder``, so that several hubs can run side by side."""
    return f"hyperpod-cdk-{hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:12]}"


def hierarchy(mounts: str | None = None) -> Path:
    """Return the path of this machine's cgroup version 2 hierarchy: the only one, or the one beside version 1's."""
    for line in (_mounts() if mounts is None else mounts).splitlines():
        _, mount, kind, *_ = line.split()
        if kind == "cgroup2":
            return Path(mount)
    raise HostError("no cgroup version 2 hierarchy is mounted; start the machine with systemd.unified_cgroup_hierarchy=1")


def is_mounted_at(place: Path, mounts: str | None = None) -> bool:
    """Return whether version 2 is mounted at ``place``, as without version 1: the kernel refuses to mount it there again."""
    return hierarchy(mounts) == place


def version_1(mounts: str | None = None) -> list[tuple[Path, str]]:
    """Return this machine's version 1 hierarchies, each with the option to mount it again; none with version 2 only."""
    found = []
    for line in (_mounts() if mounts is None else mounts).splitlines():
        _, mount, kind, options, *_ = line.split()
        if kind == "cgroup":
            own = [option for option in options.split(",") if option in _VERSION_1 or option.startswith("name=")]
            found.append((Path(mount), ",".join(own)))
    return found


def make(top: Path) -> None:
    """Create a hub's cgroup, and delegate this machine's version 2 controllers to its nodes."""
    top.mkdir(exist_ok=True)
    available = (top / "cgroup.controllers").read_text().split()
    for controller in sorted(set(available) & set(_WANTED)):
        (top / "cgroup.subtree_control").write_text(f"+{controller}")


def remove(top: Path) -> None:
    """Kill all processes in a cgroup and below, and remove it."""
    if not top.is_dir():
        return
    (top / "cgroup.kill").write_text("1")
    remove_empty(top)


def remove_empty(top: Path) -> None:
    """Remove a cgroup and all below it when their processes, which have been killed, are gone."""
    end = time.monotonic() + _GONE_S
    while not _removed(top):
        if time.monotonic() > end:
            raise HostError(f"cgroup {top} still holds processes {_GONE_S:.0f} s after they were killed")
        time.sleep(0.02)  # a killed process leaves its cgroup when the kernel is done with it: there is no event to wait for


def _mounts() -> str:
    return Path("/proc/self/mounts").read_text()


def _removed(top: Path) -> bool:
    for folder, _, _ in os.walk(top, topdown=False):
        try:
            Path(folder).rmdir()
        except FileNotFoundError:
            continue
        except OSError:
            return False
    return True
