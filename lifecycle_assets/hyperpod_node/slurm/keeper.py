"""Keeps our part of slurm.conf: systemd runs this on a controller whenever HyperPod's agent wrote the file.

The agent rewrites the node lines as nodes come and go, without what was added to them, long after the lifecycle script.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError
from hyperpod_node.managed_file import put
from hyperpod_node.node_settings import NodeSettings
from hyperpod_node.resource_config import ResourceConfig
from hyperpod_node.retry import Patience, retry
from hyperpod_node.slurm import configuration, daemon
from hyperpod_node.slurm.system import SYSTEM, System

if TYPE_CHECKING:
    from hyperpod_node.context import Context

FOLDER = Path("opt/hyperpod-cdk/slurm-conf")  # what HyperPod downloaded is in /tmp, and gone after a reboot
UNIT = "hyperpod-slurm-conf"
SERVICE = """\
[Unit]
Description=Keep what the cluster file says in slurm.conf
# The agent may write many times in a row.
StartLimitIntervalSec=0

[Service]
Type=oneshot
WorkingDirectory=/{folder}
ExecStart=/usr/bin/python3 -B -m hyperpod_node.slurm.keeper {resource_config}
"""
PATH = """\
[Unit]
Description=Watch slurm.conf for changes by HyperPod's agent

[Path]
PathChanged={slurm_conf}
PathChanged={resource_config}

[Install]
WantedBy=multi-user.target
"""


def install(context: Context, system: System) -> None:
    """Put the code and the cluster file's settings where they stay, and have systemd run them at each change."""
    folder = system.root / FOLDER
    package = Path(__file__).parents[1]
    shutil.copytree(package, folder / package.name, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    put(folder / "node_settings.json", context.settings.path.read_text())
    units = system.root / daemon.UNITS
    names = {"folder": FOLDER, "resource_config": context.cluster.path, "slurm_conf": system.slurm_conf}
    service = put(units / f"{UNIT}.service", SERVICE.format(**names))
    if put(units / f"{UNIT}.path", PATH.format(**names)) or service:
        system.run("systemctl", "daemon-reload")
    daemon.run_with(f"{UNIT}.path", [units / f"{UNIT}.path"], system)


def keep(resource_config: Path, settings: Path, system: System) -> bool:
    """Look at the files again, and have slurmctld read them where they had to be changed; tell whether they had."""
    changed, remarks = configuration.apply(NodeSettings.load(settings), ResourceConfig.load(resource_config), system)
    if not changed:
        return False
    print(f"{system.slurm_conf} is complete again{''.join(f'; {remark}' for remark in remarks)}")
    # The agent may be restarting slurmctld at this moment.
    retry("slurmctld to read slurm.conf", lambda: system.slurm("scontrol", "reconfigure"), Patience(60, clock=system.clock))
    daemon.note("slurmctld", configuration.files(system), system)
    return True


def main() -> int:
    """Do it once; the journal has what is printed."""
    try:
        keep(Path(sys.argv[1]), Path.cwd() / "node_settings.json", SYSTEM)
    except NodeError as error:
        print(f"slurm.conf was not completed: {error}", file=sys.stderr)
        return 1
    return os.EX_OK


if __name__ == "__main__":
    sys.exit(main())
