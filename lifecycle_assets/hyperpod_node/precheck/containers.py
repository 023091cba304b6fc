"""Check Docker, enroot, pyxis and NVIDIA's container program where they are installed, and that their data is on a fast disk."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node.precheck.check_result import CheckResult, failed, passed, restart, skipped

if TYPE_CHECKING:
    from collections.abc import Callable

    from hyperpod_node.precheck.checked_node import CheckedNode

DOCKER_SETTINGS, DOCKER_DATA_ROOT = "/etc/docker/daemon.json", Path("/var/lib/docker")
ENROOT_SETTINGS, RUNTIME_PATH = "/etc/enroot/enroot.conf", "ENROOT_RUNTIME_PATH"
PLUGINS, PYXIS = "/opt/slurm/etc/plugstack.conf", "/usr/local/lib/slurm/spank_pyxis.so"
NVIDIA = "nvidia-container-cli"
NO_ENROOT = "enroot is not installed; the cluster file does not require it"


def docker(node: CheckedNode) -> CheckResult:
    """Look for the program, then for the service."""
    if not node.has("docker"):
        return skipped("docker is not installed; the cluster file does not require it")
    version = node.system.run("docker", "--version").strip()
    state = node.state_of("docker")
    if state == "active":
        return passed(version)
    if node.state_of("docker.socket") == "active":
        return passed(f"{version}, started on first use")
    return failed(
        f"docker is installed, but its service is {state}",
        f"{restart('docker', state)}; if that fails: sudo journalctl -u docker -n 50",
    )


def docker_data_root(node: CheckedNode) -> CheckResult:
    """Compare `data-root` with the mounted local disks; a full root disk stops the node."""
    if not node.has("docker"):
        return skipped("docker is not installed")
    try:
        root = Path(json.loads(node.text(DOCKER_SETTINGS) or "{}").get("data-root", DOCKER_DATA_ROOT))
    except (ValueError, RecursionError, AttributeError, TypeError):
        return failed(
            f"{DOCKER_SETTINGS} is not a JSON object with a data-root",
            f"find the error with: sudo python3 -m json.tool {DOCKER_SETTINGS}",
        )
    return _on_local_disk(
        node,
        "docker's data root",
        root,
        lambda disk: f'set "data-root": "{disk}/docker/data-root" in {DOCKER_SETTINGS}, then: sudo systemctl restart docker',
    )


def enroot_runtime_path(node: CheckedNode) -> CheckResult:
    """Compare the folder in which enroot unpacks containers with the mounted local disks; its default is in memory."""
    if not node.has("enroot"):
        return skipped(NO_ENROOT)
    lines = (line.strip().partition(" ") for line in (node.text(ENROOT_SETTINGS) or "").splitlines())  # `NAME VALUE`
    values = [value.strip() for name, _, value in lines if name == RUNTIME_PATH and value.strip()]
    disk = (node.local_disks() or [Path("/opt")])[0]
    if not values:
        return failed(f"{ENROOT_SETTINGS} does not set {RUNTIME_PATH}, so containers are unpacked in memory", _runtime_fix(disk))
    if not values[-1].startswith("/"):
        return failed(f"{RUNTIME_PATH} {values[-1]} depends on the user's environment", _runtime_fix(disk))
    return _on_local_disk(node, RUNTIME_PATH, Path(values[-1]), _runtime_fix)


def pyxis(node: CheckedNode) -> CheckResult:
    """Look in srun's options, which include those of each plugin that is loaded."""
    if not node.has("enroot"):
        return skipped(NO_ENROOT)
    if "--container-image" in node.system.run("srun", "--help"):
        return passed("srun supports --container-image")
    return failed(
        "enroot is installed, but srun does not support --container-image",
        f"install pyxis on every node; on the controller, add `required {PYXIS}` to {PLUGINS}, then: sudo scontrol reconfigure",
    )


def nvidia_container_cli(node: CheckedNode) -> CheckResult:
    """Run the program on GPU nodes that have a container runtime; without it, containers see no GPU."""
    if not node.facts.gpus:
        return skipped(f"{node.facts.instance_type} has no NVIDIA GPU")
    if not (node.has("docker") or node.has("enroot")):
        return skipped("neither docker nor enroot is installed")
    if not node.has(NVIDIA):
        return failed(f"{NVIDIA} is not installed", "install libnvidia-container-tools from NVIDIA's repository")
    return passed(node.system.run(NVIDIA, "--version").splitlines()[0])


def _on_local_disk(node: CheckedNode, what: str, folder: Path, fix: Callable[[Path], str]) -> CheckResult:
    """Pass if ``folder`` is on a local disk, or if the node has none; ``fix`` returns how to use a given disk."""
    disks = node.local_disks()
    mount = node.mount_of(folder)
    if mount and mount.path in disks:
        return passed(f"{what} {folder} is on {mount.path}")
    if mount and mount.kind == "tmpfs":
        return failed(f"{what} {folder} is in memory (tmpfs)", fix(disks[0] if disks else folder))
    if disks:
        return failed(f"{what} {folder} is on {mount.path if mount else 'no mount'}, not on {disks[0]}", fix(disks[0]))
    return passed(f"{what} {folder} is on the root disk: this node has no other local disk")


def _runtime_fix(disk: Path) -> str:
    return f"add `{RUNTIME_PATH} {disk}/enroot/user-$(id -u)` to {ENROOT_SETTINGS}"
