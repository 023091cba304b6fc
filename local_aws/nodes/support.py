"""Whether this machine can run nodes, and what is missing."""

import os
import shutil
import sys
from pathlib import Path

from local_aws.builds.errors import HostError
from local_aws.builds.programs import succeeds
from local_aws.kubernetes.programs import store as programs
from local_aws.nodes import cgroups
from local_aws.nodes.image import store

SETUP = "`make nodes-setup`"
PODS_SETUP = "`make kubernetes-nodes-setup`"
# Program -> its Debian package.
PROGRAMS = {
    "ip": "iproute2",
    "mount": "mount",
    "nsenter": "util-linux",
    "setpriv": "util-linux",
    "systemd-nspawn": "systemd-container",
    "unshare": "util-linux",
}
_KERNEL = (5, 14)  # the first version with cgroup.kill
_TRY_OVERLAY = """
mount -t tmpfs try /mnt && mkdir /mnt/lower /mnt/upper /mnt/work /mnt/root &&
mount -t overlay -o lowerdir=/mnt/lower,upperdir=/mnt/upper,workdir=/mnt/work try /mnt/root
"""


def missing() -> list[str]:
    """Return why nodes cannot run here, each reason with its fix; an empty list if they can."""
    machine = missing_of_machine()
    if machine:
        return machine
    absent = [f"no program {name}; install it with {SETUP}" for name in PROGRAMS if not shutil.which(name)]
    if absent:
        return absent
    reasons = _forbidden()
    if store.find() is None:
        reasons.append(f"the node image is not built; build it with {SETUP}")
    return reasons


def missing_for_pods() -> list[str]:
    """Return why the nodes of EKS clusters cannot run pods here, apart from why nodes cannot run; an empty list if they can."""
    return [] if kubelet() else [f"the layer with the kubelet is not built; build it with {PODS_SETUP}"]


def kubelet() -> Path | None:
    """Return the folder of the kubelet's program; None without the layer that has it."""
    found, built = programs.find(programs.NODE), store.find()
    return found if found and built and store.kubernetes_layer(built, found).is_dir() else None


def missing_of_machine() -> list[str]:
    """Return the requirements that no set-up can fix."""
    if sys.platform != "linux":
        return [f"nodes need Linux, this is {sys.platform}; use a virtual machine with Debian 12 or 13"]
    reasons = []
    if os.geteuid() != 0:
        reasons.append("nodes need root; run it with sudo, or as root in a virtual machine")
    if _kernel() < _KERNEL:
        reasons.append(f"nodes need Linux {_KERNEL[0]}.{_KERNEL[1]} or newer, this is {os.uname().release}")
    try:
        cgroups.hierarchy()
    except HostError as error:
        reasons.append(str(error))
    return reasons


def image() -> Path:
    """Return the image of all nodes."""
    found = store.find()
    if found is None:
        raise HostError(f"the node image is not built; build it with {SETUP}")
    return found


def _kernel() -> tuple[int, int]:
    major, minor, *_ = os.uname().release.split(".")
    return int(major), int("".join(digit for digit in minor if digit.isdigit()))


def _forbidden() -> list[str]:
    """Return what this machine does not allow root to do, as in an unprivileged container."""
    if not succeeds("unshare", "--mount", "--net", "--pid", "--ipc", "--time", "--fork", "true"):
        return ["root cannot create namespaces here; run the container with --privileged"]
    reasons = []
    if not succeeds("unshare", "--mount", "sh", "-c", _TRY_OVERLAY):
        reasons.append("overlay file systems cannot be mounted here; load the kernel module `overlay`")
    if not os.access(cgroups.hierarchy(), os.W_OK):
        reasons.append(f"{cgroups.hierarchy()} is read-only; run the container with --privileged and --cgroupns=host")
    return reasons
