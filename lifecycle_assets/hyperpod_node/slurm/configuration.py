"""slurm.conf and its companions on a controller, made to say what the cluster file says."""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError
from hyperpod_node.managed_file import put
from hyperpod_node.slurm import daemon, topology
from hyperpod_node.slurm import settings as our_settings
from hyperpod_node.slurm.node_lines import InstanceTypes, complete, default_line, gpu_lines
from hyperpod_node.slurm.slurm_conf import SlurmConf

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hyperpod_node.node_settings import NodeSettings
    from hyperpod_node.resource_config import ResourceConfig
    from hyperpod_node.slurm.system import System

INCLUDED = "accounting.conf"  # empty on HyperPod's images, and meant for lifecycle scripts
OURS = "# written by hyperpod_node from the cluster file; changes here are overwritten\n"


@dataclass(frozen=True)
class Configuration:
    """What the files in Slurm's folder should hold."""

    slurm_conf: str
    gres_conf: str | None
    topology_conf: str | None
    default_line: str | None
    remarks: tuple[str, ...]


def render(text: str, settings: NodeSettings, cluster: ResourceConfig) -> Configuration:
    """The configuration for a cluster whose slurm.conf is ``text`` now."""
    types = InstanceTypes.of(cluster, settings.instance_types)
    conf = SlurmConf(complete(SlurmConf.parse(text).text, types))
    block = our_settings.block(conf, settings)
    gpus, wanted = gpu_lines(conf.text, types), settings.slurm.topology
    return Configuration(
        slurm_conf=conf.with_block(block),
        gres_conf="\n".join(gpus) + "\n" if gpus else None,
        topology_conf=wanted if "TopologyPlugin" in block else None,
        default_line=default_line(conf.text),
        remarks=tuple(_remarks(conf, settings)),
    )


def apply(settings: NodeSettings, cluster: ResourceConfig, system: System) -> tuple[bool, tuple[str, ...]]:
    """Write the configuration; tell whether any file changed, and what of the cluster file could not be followed."""
    with _locked(system):
        while True:
            before = _read(system.slurm_conf)
            wanted = render(before, settings, cluster)
            changed = _write_companions(wanted, system)
            if _read(system.slurm_conf) == before:  # the agent may have written since
                return _write_slurm_conf(wanted.slurm_conf, system) or changed, wanted.remarks


def files(system: System) -> list[Path]:
    """The files that slurmctld reads."""
    names = ("slurm.conf", INCLUDED, "gres.conf", "topology.conf", "cgroup.conf", our_settings.PROLOG, our_settings.EPILOG)
    return [system.etc / name for name in names]


def note_slurmctld(system: System) -> None:
    """Remember that slurmctld has these files, or is about to: it needs no restart for them."""
    daemon.note("slurmctld", files(system), system)


def _remarks(conf: SlurmConf, settings: NodeSettings) -> list[str]:
    remarks = []
    if settings.slurm.topology is not None and (problem := topology.misfits(settings.slurm.topology, conf.nodes)):
        remarks.append(f"jobs are placed without a topology: {problem}")
    if settings.slurm.prolog_and_epilog and (conf.value("Prolog") or conf.value("Epilog")):
        remarks.append("slurm.conf has a prolog or epilog already; ours are not used")
    return remarks


def _read(slurm_conf: Path) -> str:
    try:
        return slurm_conf.read_text()
    except FileNotFoundError:
        raise NodeError(f"{slurm_conf} is missing; HyperPod's agent writes it") from None


def _write_slurm_conf(text: str, system: System) -> bool:
    """Replace the agent's file, with the owner and mode that it has."""
    there = system.slurm_conf.stat()
    return put(system.slurm_conf, text, mode=there.st_mode & 0o7777, owner=(there.st_uid, there.st_gid))


def _write_companions(wanted: Configuration, system: System) -> bool:
    """Write what slurm.conf names, before it does."""
    changed = [
        _put_ours(system.etc / "gres.conf", wanted.gres_conf),
        _put_ours(system.etc / "topology.conf", wanted.topology_conf),
    ]
    changed.append(_write_included(system.etc / INCLUDED, wanted.default_line))
    return any(changed)


def _put_ours(path: Path, content: str | None) -> bool:
    """Write ``content``; leave a file of the image or of another hand alone, and take ours away where it is not wanted."""
    there = path.read_text() if path.exists() else ""
    if _is_of_another_hand(there):
        return False
    if content is not None:
        return put(path, OURS + content)
    if not there:
        return False
    path.unlink()
    return True


def _is_of_another_hand(text: str) -> bool:
    """Whether a file says something that is not ours; comments say nothing."""
    return not text.startswith(OURS) and any(line.strip() and not line.lstrip().startswith("#") for line in text.splitlines())


def _write_included(path: Path, line: str | None) -> bool:
    """Use the file that the agent's slurm.conf includes before its node lines; never leave it empty, or all commands complain."""
    if not path.exists() or _is_of_another_hand(path.read_text()):
        return False
    return put(path, OURS + (f"{line}\n" if line else ""))


@contextmanager
def _locked(system: System) -> Iterator[None]:
    """One writer at a time: this node's lifecycle script, or the service that keeps the configuration."""
    descriptor = os.open(system.etc, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
