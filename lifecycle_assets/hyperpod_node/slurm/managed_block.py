"""Our block of slurm.conf: what the cluster file asks for beyond what HyperPod's agent wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperpod_node.node_settings import EXTERNAL, NONE
from hyperpod_node.slurm import topology

if TYPE_CHECKING:
    from hyperpod_node.node_settings import NodeSettings
    from hyperpod_node.slurm.slurm_conf import SlurmConf

SLURMDBD_PORT = 6819
# Each worker has them of its own. By a name alone slurmctld would send them along with slurm.conf, and for a moment after each
# change they cannot be executed: a job that starts just then fails, and Slurm drains its node.
PROLOG, EPILOG = "/opt/hyperpod-cdk/hyperpod_prolog.sh", "/opt/hyperpod-cdk/hyperpod_epilog.sh"


def block(conf: SlurmConf, settings: NodeSettings, topology_conf: str | None) -> dict[str, str]:
    """Return each key that our block sets; ``topology_conf`` is the topology that is used, if any."""
    return {
        **_configless(conf),
        **_state(settings),
        **_accounting(conf, settings),
        **_prolog_and_epilog(conf, settings),
        **_gpus(conf, settings),
        **({"TopologyPlugin": topology.plugin(topology_conf)} if topology_conf else {}),
    }


def _configless(conf: SlurmConf) -> dict[str, str]:
    """Nodes without a slurm.conf of their own, which all but the controllers are here."""
    value = conf.with_added("SlurmctldParameters", "enable_configless")
    return {"SlurmctldParameters": value} if value else {}


def _state(settings: NodeSettings) -> dict[str, str]:
    folder = settings.slurm.state_folder
    return {"StateSaveLocation": folder} if folder else {}


def _accounting(conf: SlurmConf, settings: NodeSettings) -> dict[str, str]:
    """The host of slurmdbd by its address, not localhost: sacct asks it directly, from every node."""
    accounting = settings.accounting
    if accounting.database == NONE:
        return {}
    hosts = [controller.address for controller in conf.controllers]
    lines = {
        "AccountingStorageType": "accounting_storage/slurmdbd",
        "AccountingStorageHost": hosts[0],
        "AccountingStoragePort": str(SLURMDBD_PORT),
    }
    if accounting.database == EXTERNAL and len(hosts) > 1:
        lines["AccountingStorageBackupHost"] = hosts[1]
    if conf.value("JobAcctGatherType") is None:
        lines |= {"JobAcctGatherType": "jobacct_gather/linux", "JobAcctGatherFrequency": "30"}
    return lines


def _prolog_and_epilog(conf: SlurmConf, settings: NodeSettings) -> dict[str, str]:
    """Ours, unless the agent has one; and what pam_slurm_adopt needs: a step of each job that a login can be put into."""
    lines: dict[str, str] = {}
    if settings.slurm.prolog_and_epilog and conf.value("Prolog") is None and conf.value("Epilog") is None:
        lines |= {"Prolog": PROLOG, "Epilog": EPILOG}
    flags = conf.with_added("PrologFlags", "contain") if settings.slurm.restrict_ssh else None
    return lines | ({"PrologFlags": flags} if flags else {})


def _gpus(conf: SlurmConf, settings: NodeSettings) -> dict[str, str]:
    """GPUs as a resource, counted in the accounting; slurmctld refuses to start if it counts them without slurmdbd."""
    if "gres=gpu" not in conf.text.lower():
        return {}
    lines = {"GresTypes": conf.with_added("GresTypes", "gpu")}
    if settings.accounting.database != NONE or "slurmdbd" in (conf.value("AccountingStorageType") or ""):
        lines["AccountingStorageTRES"] = conf.with_added("AccountingStorageTRES", "gres/gpu")
    return {key: value for key, value in lines.items() if value}
