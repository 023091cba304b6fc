"""The managed block of slurm.conf: the cluster file's settings that HyperPod's agent does not write."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hyperpod_node.node_settings import EXTERNAL, NONE
from hyperpod_node.slurm import topology
from hyperpod_node.slurm.slurm_conf import SlurmConf

if TYPE_CHECKING:
    from hyperpod_node.node_settings import NodeSettings

SLURMDBD_PORT = 6819
# Each worker has its own copy. If the path were relative, slurmctld would send the scripts with slurm.conf, and after each change
# they are briefly not executable: a job that starts then fails, and Slurm drains its node.
PROLOG, EPILOG = "/opt/hyperpod-cdk/hyperpod_prolog.sh", "/opt/hyperpod-cdk/hyperpod_epilog.sh"


def block(conf: SlurmConf, settings: NodeSettings, topology_conf: str | None) -> dict[str, str]:
    """Return the keys and values of the block; ``topology_conf`` is the topology in use, if any.

    Lists to which this project adds a word, such as PrologFlags, keep the words of ``slurm.settings``.
    """
    given = {key: re.sub(r" *, *", ",", value) for key, value in settings.slurm.settings.items()}
    needed = _needed(SlurmConf(conf.text + "".join(f"\n{key}={value}" for key, value in given.items())), settings, topology_conf)
    names = {key.lower() for key in needed}
    return {key: _quoted(value) for key, value in given.items() if key.lower() not in names} | needed


def _quoted(value: str) -> str:
    """Return the value in Slurm's syntax, where an unquoted blank ends it."""
    return f'"{value}"' if " " in value else value


def _needed(conf: SlurmConf, settings: NodeSettings, topology_conf: str | None) -> dict[str, str]:
    return {
        **_configless(conf),
        **_state(settings),
        **_accounting(conf, settings),
        **_prolog_and_epilog(conf, settings),
        **_gpus(conf, settings),
        **({"TopologyPlugin": topology.plugin(topology_conf)} if topology_conf else {}),
    }


def _configless(conf: SlurmConf) -> dict[str, str]:
    """Enable nodes without slurm.conf: only controllers have the file."""
    value = conf.with_added("SlurmctldParameters", "enable_configless")
    return {"SlurmctldParameters": value} if value else {}


def _state(settings: NodeSettings) -> dict[str, str]:
    folder = settings.slurm.state_folder
    return {"StateSaveLocation": folder} if folder else {}


def _accounting(conf: SlurmConf, settings: NodeSettings) -> dict[str, str]:
    """Name the host of slurmdbd by its address, not localhost: sacct on every node connects to it."""
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
        lines["JobAcctGatherType"] = "jobacct_gather/linux"
        if conf.value("JobAcctGatherFrequency") is None:
            lines["JobAcctGatherFrequency"] = "30"
    return lines


def _prolog_and_epilog(conf: SlurmConf, settings: NodeSettings) -> dict[str, str]:
    """Set our scripts unless the agent has some, and the flag that gives each job a step for logins of pam_slurm_adopt."""
    lines: dict[str, str] = {}
    if settings.slurm.prolog_and_epilog and conf.value("Prolog") is None and conf.value("Epilog") is None:
        lines |= {"Prolog": PROLOG, "Epilog": EPILOG}
    flags = conf.with_added("PrologFlags", "contain") if settings.slurm.restrict_ssh else None
    return lines | ({"PrologFlags": flags} if flags else {})


def scripts_beside(conf: SlurmConf, settings: NodeSettings) -> list[str]:
    """Return the lines that add our prolog and epilog to those of the agent, as HyperPod's image has them for GPU metrics.

    https://github.com/awslabs/awsome-distributed-ai (Extensions/observability/README.md)
    """
    theirs = conf.value("Prolog") or conf.value("Epilog")
    return [f"Prolog={PROLOG}", f"Epilog={EPILOG}"] if settings.slurm.prolog_and_epilog and theirs else []


def _gpus(conf: SlurmConf, settings: NodeSettings) -> dict[str, str]:
    """Declare GPUs as a resource, and count them if there is slurmdbd: without it, slurmctld would not start."""
    if "gres=gpu" not in conf.text.lower():
        return {}
    lines = {"GresTypes": conf.with_added("GresTypes", "gpu")}
    if settings.accounting.database != NONE or "slurmdbd" in (conf.value("AccountingStorageType") or ""):
        lines["AccountingStorageTRES"] = conf.with_added("AccountingStorageTRES", "gres/gpu")
    return {key: value for key, value in lines.items() if value}
