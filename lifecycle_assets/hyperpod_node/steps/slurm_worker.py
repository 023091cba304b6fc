"""On a worker: starts slurmd, which takes its configuration from the controllers, and waits until they know it.

From then on the node follows controllers that are replaced.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError
from hyperpod_node.managed_file import put
from hyperpod_node.retry import Patience
from hyperpod_node.slurm import controllers, daemon, follow, settings
from hyperpod_node.slurm.conf_server import SLURMD
from hyperpod_node.slurm.system import SYSTEM, System

if TYPE_CHECKING:
    from hyperpod_node.context import Context

SCRIPTS = Path(settings.__file__).with_name("scripts")
CACHED = Path("run/slurm/conf/slurm.conf")
REGISTERED_WITHIN_S = 300


def apply(context: Context, system: System = SYSTEM) -> None:
    """Have slurmd run here, now and after a reboot, and slurmctld never."""
    daemon.never_run("slurmctld", system)
    addresses = controllers.reachable(context, system)
    if context.settings.slurm.prolog_and_epilog:
        _put_prolog_and_epilog(system)
    SLURMD.tell(addresses, system)
    daemon.run_with("slurmd", SLURMD.files(system), system)
    patience = Patience(REGISTERED_WITHIN_S, first_pause_s=0.1, longest_pause_s=5, clock=system.clock)
    daemon.patient("slurmd", f"slurmctld to know {system.host}", lambda: _is_registered(system), patience, system)
    follow.start(context, "slurmd", system)


def _put_prolog_and_epilog(system: System) -> None:
    for script in map(Path, (settings.PROLOG, settings.EPILOG)):
        put(system.root / script.relative_to("/"), (SCRIPTS / script.name).read_text(), mode=0o755)


def _is_registered(system: System) -> None:
    """Raise until slurmctld has heard of this node's slurmd; one question about one node, however large the cluster."""
    if not (system.root / CACHED).exists():
        raise NodeError("slurmd has no slurm.conf yet")
    said = system.slurm("scontrol", "--oneliner", "show", "node", system.host, timeout_s=30)
    fields = dict(word.split("=", 1) for word in said.split() if "=" in word)
    state = fields.get("State", "not told")
    if fields.get("SlurmdStartTime", "None") == "None" or state.startswith("UNKNOWN") or "*" in state:
        raise NodeError(f"its state is {state}")
