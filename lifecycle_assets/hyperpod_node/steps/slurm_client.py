"""Start slurmd on a worker, set up Slurm's commands on a login node, and follow controllers that are replaced.

Both get Slurm's configuration from the controllers.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError
from hyperpod_node.managed_file import put
from hyperpod_node.node_settings import API
from hyperpod_node.slurm import controllers, daemon, follower, joined_groups, managed_block
from hyperpod_node.slurm.conf_server import SACKD, SHELLS, SLURMD
from hyperpod_node.slurm.slurm_conf import BEGIN

if TYPE_CHECKING:
    from hyperpod_node.context import Context
    from hyperpod_node.system import System

SCRIPTS = Path(managed_block.__file__).with_name("scripts")
REGISTRATION_TIMEOUT_S = 25
LISTING_TIMEOUT_S = 1  # of these, if slurm.conf has no line for the node: the line may come only after these scripts end
SACKD_LINES = """\
Type=notify
User=slurm
RuntimeDirectory=slurm
RuntimeDirectoryMode=0755
ExecStart={sackd} --systemd"""
COMMANDS_TIMEOUT_S = 120
CONFIGURATION_TIMEOUT_S = 300


def apply_worker(context: Context, system: System) -> None:
    """Run slurmd on this node, now and after a reboot, and never slurmctld.

    HyperPod's agent may add a new node to slurm.conf minutes after the node's scripts have succeeded. So the scripts must not
    wait for that: slurmd restarts until slurm.conf has the node.
    https://github.com/aws-samples/sample-physical-ai-scaffolding-kit (register_slurm_features.sh)
    """
    addresses = _reach_controllers(context, system, "slurmctld")
    _put_prolog_and_epilog(system)  # also if slurm.conf does not use them yet: a change on controllers needs them here
    SLURMD.write(addresses, system, joined_groups.option(context, system))
    daemon.ensure_running("slurmd", SLURMD.files(system), system)
    _renew_configuration("slurmd", context, system)
    _wait_for_registration(system)
    SLURMD.require_options(system)
    follower.start(context, "slurmd", system)


def apply_login(context: Context, system: System) -> None:
    """Make Slurm's commands work in every shell of a login node, which runs no daemon for jobs.

    sackd, which images with Slurm 23.11 or newer may have, writes the configuration to /run/slurm/conf, where commands find it in
    any shell, also those of Session Manager. Without sackd, an environment variable makes commands ask a controller each time.
    """
    addresses = _reach_controllers(context, system, "slurmd", "slurmctld")
    sackd = system.find("sackd")
    if sackd:
        _run_sackd(sackd, addresses, system)
        _renew_configuration("sackd", context, system)
    else:
        SHELLS.write(addresses, system)
    environment = {} if sackd else {"SLURM_CONF_SERVER": ",".join(addresses)}
    answering = partial(controllers.answering, system, environment)
    system.retry("Slurm's commands", answering, COMMANDS_TIMEOUT_S, first_pause_s=0.2)
    follower.start(context, "sackd" if sackd else "shells", system)


def _reach_controllers(context: Context, system: System, *masked: str) -> list[str]:
    """Wait until a controller listens, and return the addresses of all; ``masked`` daemons do not run on this node."""
    for unit in masked:
        daemon.mask(unit, system)
    conf = system.slurm_conf
    if conf.exists():  # a file of the image: Slurm's commands would prefer it to the controllers' configuration
        unused = conf.rename(conf.with_name("slurm.conf.not-on-this-node"))
        print(f"renamed {conf} to {unused.name}: this node uses the controllers' configuration")
    return controllers.reachable(context, system)


def _renew_configuration(unit: str, context: Context, system: System) -> None:
    """Restart ``unit`` until it has the configuration of the controller's scripts; log a warning if it never comes.

    HyperPod can start slurmctld before these scripts edit slurm.conf, and ``unit`` may have fetched the file from before.
    """
    if context.settings.slurm.setup != API:
        return
    fetched = system.path(controllers.FETCHED_CONF)

    def attempt() -> None:
        if not fetched.exists() or BEGIN not in fetched.read_text():
            system.run("systemctl", "restart", unit, timeout_s=120)
            raise NodeError(f"{fetched} lacks what the controller's scripts write")

    what = f"the final configuration of {unit}"
    try:
        system.retry(what, attempt, CONFIGURATION_TIMEOUT_S, first_pause_s=1, longest_pause_s=30)
    except NodeError as error:
        print(f"warning: {error}; if settings of the cluster file are missing, run `scontrol reconfigure` on the controller")


def _wait_for_registration(system: System) -> None:
    """Wait briefly until slurmctld knows this node; log a warning if it does not."""
    listed_by = system.clock.now() + LISTING_TIMEOUT_S

    def unlisted() -> str:
        try:
            controllers.require_registration(system)
        except controllers.UnlistedError as error:
            if system.clock.now() < listed_by:
                raise
            return str(error)
        return ""

    try:
        what = f"slurmctld to know {system.host}"
        problem = system.retry(what, unlisted, REGISTRATION_TIMEOUT_S, first_pause_s=0.1, longest_pause_s=5)
    except NodeError as error:
        problem = f"{error}; the journal of slurmd: {daemon.journal('slurmd', system)}"
    if problem:
        print(f"warning: {problem}; slurmd restarts until slurmctld knows this node; check it with hyperpod-precheck")


def _put_prolog_and_epilog(system: System) -> None:
    for script in map(Path, (managed_block.PROLOG, managed_block.EPILOG)):
        put(system.path(script), (SCRIPTS / script.name).read_text(), mode=0o755)


def _run_sackd(sackd: Path, addresses: list[str], system: System) -> None:
    SACKD.write(addresses, system)
    daemon.provide("sackd", "Slurm's configuration for a login node", SACKD_LINES.format(sackd=sackd), system)
    daemon.ensure_running("sackd", SACKD.files(system), system)
    SACKD.require_options(system)
