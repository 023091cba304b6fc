"""Start Slurm's accounting on a controller, before slurmctld's first start.

slurmctld stores a cluster id that the database assigns. Without the database it generates its own id, and from then on the two
do not match.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError
from hyperpod_node.node_settings import API, EXTERNAL, LOCAL, MANAGED, NONE
from hyperpod_node.slurm import accounting_daemon, associations, controller_daemon, controllers, daemon, database, managed_block
from hyperpod_node.slurm.slurm_conf import SlurmConf
from hyperpod_node.steps import slurm_controller
from hyperpod_node.system import System

if TYPE_CHECKING:
    from hyperpod_node.context import Context


def apply(context: Context, system: System) -> bool:
    """Start slurmdbd or wait for it on the first controller, and register the cluster and its users."""
    accounting = context.settings.accounting
    if accounting.database == NONE:
        return False
    conf = slurm_controller.read(system.slurm_conf)
    hosts = conf.controllers[: 1 if accounting.database == LOCAL else 2]
    if system.host not in [host.name.split(".")[0] for host in hosts]:
        connect = partial(system.connect, hosts[0].address, managed_block.SLURMDBD_PORT)
        system.retry(f"slurmdbd on {hosts[0].name}", connect, controllers.TIMEOUT_S)
        return True
    if accounting.database == MANAGED or _is_images(context, system):
        accounting_daemon.wait_for_images(accounting.host, system)
    else:
        if context.settings.slurm.setup == API:
            controller_daemon.forget_generated_id(conf, system)
        location = database.external(accounting, system) if accounting.database == EXTERNAL else database.local(system)
        accounting_daemon.start(location, hosts, system)
    if system.host != hosts[0].name.split(".")[0]:
        return True  # only the first controller registers the cluster: two at once would conflict
    _register(conf, context, system)
    return True


def apply_live(context: Context, system: System) -> bool:
    """Register new users and QOS on a running cluster, and verify its database.

    The database does not change, and without it other changes go on.
    """
    conf, whole = slurm_controller.read(system.slurm_conf), SlurmConf(system.slurm_conf.read_text())
    has_database = "slurmdbd" in (whole.value("AccountingStorageType") or "")  # the cluster file may request another one since
    if has_database and context.settings.accounting.database == EXTERNAL:
        accounting_daemon.add_authorities(context.settings.accounting, system)
    if not has_database or system.host != conf.controllers[0].name.split(".")[0]:
        return False
    try:
        _register(conf, context, system)
    except NodeError as error:
        print(f"warning: new users and QOS are not in Slurm's accounting: {error}; the next change of the cluster file adds them")
    return True


def _register(conf: SlurmConf, context: Context, system: System) -> None:
    name = conf.value("ClusterName")
    if name is None:
        raise NodeError(f"{system.slurm_conf} has no ClusterName; HyperPod's agent writes it")
    qos = [each.options["QOS"] for each in context.settings.slurm.partitions if "QOS" in each.options]
    associations.register(name, (user.name for user in context.settings.users), qos, system)


def _is_images(context: Context, system: System) -> bool:
    """Return whether slurmdbd and its local database are the image's: by its unit, because these scripts can run before it."""
    settings = context.settings
    return settings.slurm.setup == API and settings.accounting.database == LOCAL and daemon.is_images("slurmdbd", system)
