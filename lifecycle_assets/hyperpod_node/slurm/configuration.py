"""Add the cluster file's settings to slurm.conf and its included files on a controller."""

from __future__ import annotations

import fcntl
import os
import re
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError
from hyperpod_node.managed_file import put
from hyperpod_node.node_settings import API
from hyperpod_node.slurm import daemon, managed_block, partition_lines, topology
from hyperpod_node.slurm.node_lines import InstanceTypes, complete, default_line, gpu_lines, of_gres_conf, without_login_nodes
from hyperpod_node.slurm.slurm_conf import SlurmConf
from hyperpod_node.slurm.topology import AgentsTopology

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hyperpod_node.node_settings import NodeSettings
    from hyperpod_node.resource_config import ResourceConfig
    from hyperpod_node.system import System

INCLUDED = "accounting.conf"  # empty on HyperPod's images, and meant for lifecycle scripts
TOPOLOGIES = ("topology.conf", "topology.yaml")
AGENTS = ("slurm.conf", "gres.conf", INCLUDED, *TOPOLOGIES)  # HyperPod's agent may rewrite them while the cluster runs
HEADER = "# written by hyperpod_node from the cluster file; changes here are overwritten\n"


@dataclass(frozen=True)
class AgentsFiles:
    """The text of the agent's files beside slurm.conf, empty where there are none; and whether Slurm runs several prologs."""

    topology: AgentsTopology = field(default_factory=AgentsTopology)
    gres_conf: str = ""
    several_prologs: bool = False


NO_FILES = AgentsFiles()


@dataclass(frozen=True)
class Configuration:
    """The desired content of the files in Slurm's folder."""

    slurm_conf: str
    gres_conf: str | None
    topology_conf: str | None
    default_line: str | None
    has_agents_topology: bool
    warnings: tuple[str, ...]


def render(
    text: str,
    settings: NodeSettings,
    cluster: ResourceConfig,
    agents: AgentsFiles = NO_FILES,
    login_group: str | None = None,
) -> Configuration:
    """Return the configuration for a cluster with slurm.conf ``text``."""
    types = InstanceTypes.of(cluster, of_gres_conf(settings.instance_types, agents.gres_conf))
    workers = without_login_nodes(SlurmConf.parse(text).text, cluster.hosts_of(login_group))
    conf = SlurmConf(complete(workers, types))
    gpus, ours = gpu_lines(conf.text, types), settings.slurm.topology
    problem = topology.problem(ours, conf.nodes, agents.topology) if ours is not None else None
    used = None if problem else ours
    block = managed_block.block(conf, settings, used)
    final = conf.text if agents.topology.is_described else topology.turn_off(conf.text)
    text, more = partition_lines.complete(final, settings.slurm.partitions, partition_lines.hosts_by_group(cluster, conf))
    more += managed_block.scripts_beside(conf, settings) if agents.several_prologs else []
    return Configuration(
        slurm_conf=SlurmConf(text).with_block(block, more, is_marked=settings.slurm.setup == API),
        gres_conf="\n".join(gpus) + "\n" if gpus else None,
        topology_conf=used or topology.placeholder(conf.text),
        default_line=default_line(conf.text),
        has_agents_topology=agents.topology.is_described,
        warnings=tuple(_warnings(conf, settings, problem, agents)),
    )


def apply(
    settings: NodeSettings, cluster: ResourceConfig, login_group: str | None, system: System
) -> tuple[bool, tuple[str, ...]]:
    """Write the configuration; return whether any file changed, and warnings about settings that are not used."""
    with _locked(system):
        while True:
            before = read(system.slurm_conf)
            desired = render(before, settings, cluster, _agents_files(before, system), login_group)
            changed = _write_companions(desired, system)
            if read(system.slurm_conf) == before:  # the agent may have written since
                return _rewrite(system.slurm_conf, desired.slurm_conf) or changed, desired.warnings


def files(system: System) -> list[Path]:
    """Return the files that slurmctld reads."""
    names = (*AGENTS, "cgroup.conf", managed_block.PROLOG, managed_block.EPILOG)
    return [system.slurm_etc / name for name in names]


def record_slurmctld(system: System) -> None:
    """Record that slurmctld has read these files, or will: it needs no restart for them."""
    daemon.record_files("slurmctld", files(system), system)


def _warnings(conf: SlurmConf, settings: NodeSettings, problem: str | None, agents: AgentsFiles) -> list[str]:
    warnings = [problem] if problem else []
    if managed_block.scripts_beside(conf, settings) and not agents.several_prologs:
        warnings.append(
            "slurm.prolog_and_epilog is not used: slurm.conf has a prolog or epilog already, and Slurm before 24.11 runs one"
        )
    return warnings


def read(slurm_conf: Path) -> str:
    """Return the text of slurm.conf."""
    try:
        return slurm_conf.read_text()
    except FileNotFoundError:
        raise NodeError(f"{slurm_conf} is missing; HyperPod's agent writes it") from None


def _rewrite(path: Path, text: str) -> bool:
    """Replace a file of the agent, and keep its owner and mode."""
    status = path.stat()
    return put(path, text, mode=status.st_mode & 0o7777, owner=(status.st_uid, status.st_gid))


def _agents_files(slurm_conf: str, system: System) -> AgentsFiles:
    """Return the files that these scripts did not write."""
    conf, yaml, gres = (_read_other(system.slurm_etc / name) for name in (*TOPOLOGIES, "gres.conf"))
    agents = SlurmConf.parse(slurm_conf)
    has_prologs = agents.value("Prolog") or agents.value("Epilog")
    return AgentsFiles(AgentsTopology(conf, yaml), gres, bool(has_prologs) and _runs_several_prologs(system))


def _runs_several_prologs(system: System) -> bool:
    """Return whether each line of a prolog counts, as in Slurm 24.11; in older versions the last line can replace the others."""
    version = re.search(r"(\d+)\.(\d+)", system.slurm("scontrol", "--version"))
    return version is not None and (int(version[1]), int(version[2])) >= (24, 11)


def _read_other(path: Path) -> str:
    """Return the content of a file that these scripts did not write, or an empty text."""
    text = path.read_text() if path.exists() else ""
    return text if _has_other_content(text) else ""


def _write_companions(desired: Configuration, system: System) -> bool:
    """Write the files that slurm.conf needs, before slurm.conf."""
    changed = [
        _write_managed(system.slurm_etc / "gres.conf", desired.gres_conf),
        _write_included(system.slurm_etc / INCLUDED, desired.default_line),
    ]
    if not desired.has_agents_topology:
        conf, yaml = (system.slurm_etc / name for name in TOPOLOGIES)
        changed += [_write_managed(conf, desired.topology_conf), _remove(yaml)]
    return any(changed)


def _write_managed(path: Path, content: str | None) -> bool:
    """Write ``content``, or delete the file if it is None; keep a file with other content."""
    if path.exists() and _has_other_content(path.read_text()):
        return False
    return _remove(path) if content is None else put(path, HEADER + content)


def _remove(path: Path) -> bool:
    existed = path.exists()
    path.unlink(missing_ok=True)
    return existed


def _has_other_content(text: str) -> bool:
    """Return whether a file has content that these scripts did not write; comments do not count."""
    return not text.startswith(HEADER) and any(line.strip() and not line.lstrip().startswith("#") for line in text.splitlines())


def _write_included(path: Path, line: str | None) -> bool:
    """Write the file that slurm.conf includes before its node lines, after the image's own lines.

    It is never empty, because commands would print errors.
    """
    if not path.exists():
        return False
    images = path.read_text().partition(HEADER)[0]
    return _rewrite(path, images + HEADER + (f"{line}\n" if line else ""))


@contextmanager
def _locked(system: System) -> Iterator[None]:
    """Allow one writer at a time: the lifecycle script or the service that maintains the configuration."""
    descriptor = os.open(system.slurm_etc, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
