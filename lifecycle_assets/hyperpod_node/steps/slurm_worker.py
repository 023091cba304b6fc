"""On a worker: starts slurmd, which takes its configuration from the controllers.

HyperPod's agent may write the line of a node that joins into slurm.conf minutes after the node's scripts have succeeded. So they
must not wait for it: slurmd starts again until the line is there. From then on the node follows controllers that are replaced.
https://github.com/aws-samples/sample-physical-ai-scaffolding-kit (register_slurm_features.sh)
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError
from hyperpod_node.managed_file import put
from hyperpod_node.retry import RetryPolicy, retry
from hyperpod_node.slurm import controllers, daemon, follower, managed_block, registration
from hyperpod_node.slurm.conf_server import SLURMD
from hyperpod_node.system import System

if TYPE_CHECKING:
    from hyperpod_node.context import Context

SCRIPTS = Path(managed_block.__file__).with_name("scripts")
REGISTRATION_TIMEOUT_S = 25
LISTING_TIMEOUT_S = 5  # of these, where slurm.conf has no line for the node: it will not come before these scripts end


def apply(context: Context, system: System) -> None:
    """Have slurmd run here, now and after a reboot, and slurmctld never."""
    daemon.mask("slurmctld", system)
    addresses = controllers.reachable(context, system)
    if context.settings.slurm.prolog_and_epilog:
        _put_prolog_and_epilog(system)
    SLURMD.write(addresses, system)
    daemon.ensure_running("slurmd", SLURMD.files(system), system)
    _wait_for_registration(system)
    follower.start(context, "slurmd", system)


def _wait_for_registration(system: System) -> None:
    """Wait a little for slurmctld to know this node, so that the log says where it does not."""
    policy = RetryPolicy(REGISTRATION_TIMEOUT_S, first_pause_s=0.1, longest_pause_s=5, clock=system.clock)
    listed_by = system.clock.now() + LISTING_TIMEOUT_S

    def unlisted() -> str:
        try:
            registration.require(system)
        except registration.UnlistedError as error:
            if system.clock.now() < listed_by:
                raise
            return str(error)
        return ""

    try:
        problem = retry(f"slurmctld to know {system.host}", unlisted, policy)
    except NodeError as error:
        problem = f"{error}; the journal of slurmd: {daemon.journal('slurmd', system)}"
    if problem:
        print(f"warning: {problem}; slurmd starts again until slurmctld knows this node, see hyperpod-precheck")


def _put_prolog_and_epilog(system: System) -> None:
    for script in map(Path, (managed_block.PROLOG, managed_block.EPILOG)):
        put(system.path(script), (SCRIPTS / script.name).read_text(), mode=0o755)
