"""Keeps the logs of these scripts and of Slurm from filling the disk."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node.managed_file import put

if TYPE_CHECKING:
    from hyperpod_node.context import Context

FOLDER = Path("/etc/logrotate.d")
HOW = """\
    daily
    maxsize 100M
    rotate 7
    compress
    delaycompress
    missingok
    notifempty
"""
# Slurm's daemons open their logs again at SIGUSR2 (https://slurm.schedmd.com/slurm.conf.html#SECTION_LOGGING). `su root root`
# because the folder is the user slurm's, and logrotate works as root in no folder that somebody else may write.
SLURM = f"""\
# Written by the lifecycle scripts.
/var/log/slurm/*.log {{
{HOW}    su root root
    sharedscripts
    postrotate
        for daemon in slurmctld slurmd slurmdbd; do pkill -x --signal SIGUSR2 "$daemon" || true; done
    endscript
}}
"""
PROVISIONING = f"""\
# Written by the lifecycle scripts.
/var/log/provision/*.log {{
{HOW}}}
"""


def apply(context: Context, folder: Path = FOLDER) -> None:  # noqa: ARG001 - the same on all nodes
    """Have logrotate rotate both."""
    put(folder / "hyperpod-slurm", SLURM)
    put(folder / "hyperpod-provisioning", PROVISIONING)
