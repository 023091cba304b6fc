"""Pyxis is loaded by Slurm: `srun --container-image` works."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperpod_node.precheck.result import Result, failed, passed, skipped

if TYPE_CHECKING:
    from hyperpod_node.precheck.machine import Machine

NAME = "pyxis"
PLUGINS = "/opt/slurm/etc/plugstack.conf"


def check(machine: Machine) -> Result:
    """Ask srun for its options: a plugin's options are among them only if it could be loaded."""
    if not machine.has("enroot"):
        return skipped("enroot is not installed; nothing in the cluster file asks for it")
    if "--container-image" in machine.run("srun", "--help"):
        return passed("srun knows --container-image")
    return failed(
        "enroot is installed, but srun does not know --container-image",
        f"install pyxis and name its spank_pyxis.so in {PLUGINS}, then: sudo systemctl restart slurmd (on workers only)",
    )
