"""Start slurmd on a worker, which gets its configuration from the controllers, and follow controllers that are replaced.

HyperPod's agent may add a new node to slurm.conf minutes after the node's scripts have succeeded. So the scripts must not wait
for that: slurmd restarts until slurm.conf has the node.
https://github.com/aws-samples/sample-physical-ai-scaffolding-kit (register_slurm_features.sh)
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError
from hyperpod_node.managed_file import put
from hyperpod_node.node_settings import API
from hyperpod_node.retry import RetryPolicy, retry
from hyperpod_node.slurm import controllers, daemon, fetched_configuration, follower, joined_groups, managed_block, registration
from hyperpod_node.slurm.conf_server import SLURMD
from hyperpod_node.system import System

if TYPE_CHECKING:
    from hyperpod_node.context import Context

SCRIPTS = Path(managed_block.__file__).with_name("scripts")
REGISTRATION_TIMEOUT_S = 25
LISTING_TIMEOUT_S = 5  # of these, if slurm.conf has no line for the node: the line may come only after these scripts end


def apply(context: Context, system: System) -> None:
    """Run slurmd on this node, now and after a reboot, and never slurmctld."""
    daemon.mask("slurmctld", system)
    fetched_configuration.set_local_aside(system)
    addresses = controllers.reachable(context, system)
    _put_prolog_and_epilog(system)  # also if slurm.conf does not use them yet: a change on controllers needs them here
    SLURMD.write(addresses, system, joined_groups.option(context, system))
    daemon.ensure_running("slurmd", SLURMD.files(system), system)
    if context.settings.slurm.setup == API:
        fetched_configuration.renew("slurmd", system)
    _wait_for_registration(system)
    SLURMD.require_options(system)
    follower.start(context, "slurmd", system)


def _wait_for_registration(system: System) -> None:
    """Wait briefly until slurmctld knows this node; log a warning if it does not."""
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
        print(f"warning: {problem}; slurmd restarts until slurmctld knows this node; check it with hyperpod-precheck")


def _put_prolog_and_epilog(system: System) -> None:
    for script in map(Path, (managed_block.PROLOG, managed_block.EPILOG)):
        put(system.path(script), (SCRIPTS / script.name).read_text(), mode=0o755)
