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
from hyperpod_node.slurm import daemon, managed_block, topology
from hyperpod_node.slurm.node_lines import InstanceTypes, complete, default_line, gpu_lines
from hyperpod_node.slurm.slurm_conf import SlurmConf
from hyperpod_node.slurm.topology import AgentsTopology

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hyperpod_node.node_settings import NodeSettings
    from hyperpod_node.resource_config import ResourceConfig
    from hyperpod_node.system import System

INCLUDED = "accounting.conf"  # empty on HyperPod's images, and meant for lifecycle scripts
TOPOLOGIES = ("topology.conf", "topology.yaml")
NO_TOPOLOGY = AgentsTopology()
OURS = "# written by hyperpod_node from the cluster file; changes here are overwritten\n"


@dataclass(frozen=True)
class Configuration:
    """What the files in Slurm's folder should hold."""

    slurm_conf: str
    gres_conf: str | None
    topology_conf: str | None
    default_line: str | None
    has_agents_topology: bool
    warnings: tuple[str, ...]


def render(text: str, settings: NodeSettings, cluster: ResourceConfig, agents: AgentsTopology = NO_TOPOLOGY) -> Configuration:
    """Return the configuration for a cluster whose slurm.conf is ``text`` now."""
    types = InstanceTypes.of(cluster, settings.instance_types)
    conf = SlurmConf(complete(SlurmConf.parse(text).text, types))
    gpus, ours = gpu_lines(conf.text, types), settings.slurm.topology
    problem = topology.problem(ours, conf.nodes, agents) if ours is not None else None
    used = None if problem else ours
    block = managed_block.block(conf, settings, used)
    final = conf if agents.is_described else SlurmConf(topology.turn_off(conf.text))
    return Configuration(
        slurm_conf=final.with_block(block),
        gres_conf="\n".join(gpus) + "\n" if gpus else None,
        topology_conf=used or topology.placeholder(conf.text),
        default_line=default_line(conf.text),
        has_agents_topology=agents.is_described,
        warnings=tuple(_warnings(conf, settings, problem)),
    )


def apply(settings: NodeSettings, cluster: ResourceConfig, system: System) -> tuple[bool, tuple[str, ...]]:
    """Write the configuration; tell whether any file changed, and what of the cluster file could not be followed."""
    with _locked(system):
        while True:
            before = _read(system.slurm_conf)
            wanted = render(before, settings, cluster, _agents_topology(system))
            changed = _write_companions(wanted, system)
            if _read(system.slurm_conf) == before:  # the agent may have written since
                return _write_slurm_conf(wanted.slurm_conf, system) or changed, wanted.warnings


def files(system: System) -> list[Path]:
    """The files that slurmctld reads."""
    companions = (INCLUDED, "gres.conf", *TOPOLOGIES, "cgroup.conf")
    names = ("slurm.conf", *companions, managed_block.PROLOG, managed_block.EPILOG)
    return [system.slurm_etc / name for name in names]


def record_slurmctld(system: System) -> None:
    """Remember that slurmctld has these files, or is about to: it needs no restart for them."""
    daemon.record_files("slurmctld", files(system), system)


def _warnings(conf: SlurmConf, settings: NodeSettings, problem: str | None) -> list[str]:
    warnings = [problem] if problem else []
    if settings.slurm.prolog_and_epilog and (conf.value("Prolog") or conf.value("Epilog")):
        warnings.append("slurm.conf has a prolog or epilog already; ours are not used")
    return warnings


def _read(slurm_conf: Path) -> str:
    try:
        return slurm_conf.read_text()
    except FileNotFoundError:
        raise NodeError(f"{slurm_conf} is missing; HyperPod's agent writes it") from None


def _write_slurm_conf(text: str, system: System) -> bool:
    """Replace the agent's file, with the owner and mode that it has."""
    there = system.slurm_conf.stat()
    return put(system.slurm_conf, text, mode=there.st_mode & 0o7777, owner=(there.st_uid, there.st_gid))


def _agents_topology(system: System) -> AgentsTopology:
    """Return what files that are not ours say of the topology."""
    paths = [system.slurm_etc / name for name in TOPOLOGIES]
    texts = [path.read_text() if path.exists() else "" for path in paths]
    return AgentsTopology(*(text if _has_other_content(text) else "" for text in texts))


def _write_companions(wanted: Configuration, system: System) -> bool:
    """Write what slurm.conf names, before it does."""
    changed = [
        _write_managed(system.slurm_etc / "gres.conf", wanted.gres_conf),
        _write_included(system.slurm_etc / INCLUDED, wanted.default_line),
    ]
    if not wanted.has_agents_topology:
        conf, yaml = (system.slurm_etc / name for name in TOPOLOGIES)
        changed += [_write_managed(conf, wanted.topology_conf), _remove(yaml)]
    return any(changed)


def _write_managed(path: Path, content: str | None) -> bool:
    """Write ``content``, or delete the file where it is None; leave a file with anything in it that is not ours alone."""
    if path.exists() and _has_other_content(path.read_text()):
        return False
    return _remove(path) if content is None else put(path, OURS + content)


def _remove(path: Path) -> bool:
    there = path.exists()
    path.unlink(missing_ok=True)
    return there


def _has_other_content(text: str) -> bool:
    """Whether a file says something that is not ours; comments say nothing."""
    return not text.startswith(OURS) and any(line.strip() and not line.lstrip().startswith("#") for line in text.splitlines())


def _write_included(path: Path, line: str | None) -> bool:
    """Use the file that the agent's slurm.conf includes before its node lines; never leave it empty, or all commands complain."""
    if not path.exists() or _has_other_content(path.read_text()):
        return False
    return put(path, OURS + (f"{line}\n" if line else ""))


@contextmanager
def _locked(system: System) -> Iterator[None]:
    """One writer at a time: this node's lifecycle script, or the service that keeps the configuration."""
    descriptor = os.open(system.slurm_etc, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
