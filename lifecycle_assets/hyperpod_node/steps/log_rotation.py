"""Rotate the logs of these scripts and of Slurm, so that they do not fill the disk."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node.managed_file import put

if TYPE_CHECKING:
    from hyperpod_node.context import Context
    from hyperpod_node.system import System

FOLDER = Path("/etc/logrotate.d")
OWN = "hyperpod-slurm"
OPTIONS = """\
    daily
    maxsize 100M
    rotate 7
    compress
    delaycompress
    missingok
    notifempty
"""
SLURM_FOLDER = Path("/var/log/slurm")
SLURM_LOGS = ("slurmctld.log", "slurmd.log", "slurmdbd.log", "slurmrestd.log", "prolog.log", "epilog.log")
PROVISIONING = f"""\
# Written by the lifecycle scripts.
/var/log/provision/*.log {{
{OPTIONS}}}
"""


def apply(_: Context, system: System) -> None:
    """Write the configuration of logrotate for both."""
    folder = system.path(FOLDER)
    put(folder / "hyperpod-provisioning", PROVISIONING)
    put(folder / OWN, slurm([SLURM_FOLDER / name for name in SLURM_LOGS if not _is_rotated_already(name, folder)]))


def slurm(logs: list[Path]) -> str:
    """Return the part for Slurm, whose daemons reopen their logs on SIGUSR2 (https://slurm.schedmd.com/slurm.conf.html)."""
    if not logs:
        return "# Written by the lifecycle scripts: other files here rotate all of Slurm's logs.\n"
    return f"""\
# Written by the lifecycle scripts.
{" ".join(map(str, logs))} {{
{OPTIONS}    su root root
    sharedscripts
    postrotate
        for daemon in slurmctld slurmd slurmdbd slurmrestd; do pkill -x --signal SIGUSR2 "$daemon" || true; done
    endscript
}}
"""


def _is_rotated_already(name: str, folder: Path) -> bool:
    """Return whether another file rotates a log: logrotate treats a duplicate as an error and skips the whole second file."""
    others = (file for file in sorted(folder.iterdir()) if file.name != OWN and file.is_file()) if folder.is_dir() else ()
    words = {word for file in others for word in file.read_text(errors="replace").split()}
    return bool({str(SLURM_FOLDER / name), str(SLURM_FOLDER / "*.log"), str(SLURM_FOLDER / "*")} & words)
