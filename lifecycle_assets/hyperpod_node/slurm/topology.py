"""Choose Slurm's topology: the cluster file's, if it matches the cluster, or the one that HyperPod's agent maintains.

If topology.conf lacks a node, Slurm rejects jobs. The agent may enable a topology without describing it:
https://github.com/aws-samples/sample-physical-ai-scaffolding-kit/pull/14 and /pull/23
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from hyperpod_node.slurm.slurm_conf import COMMENTED_OUT, expand

# Slurm's syntax: a backslash continues a line, and blanks may surround an equals sign.
_CONTINUED = re.compile(r"\\[ \t]*\n")
_NODES = re.compile(r"\bNodes\s*=\s*\"?([^\s\"]+)", re.IGNORECASE)
_BLOCK = re.compile(r"^\s*BlockName\s*=", re.MULTILINE | re.IGNORECASE)
_SWITCH = re.compile(r"^\s*SwitchName\s*=", re.MULTILINE | re.IGNORECASE)
_PLUGIN = re.compile(r"^(?=[ \t]*TopologyPlugin[ \t]*=[ \t]*topology/(?:tree|block)\b)", re.MULTILINE | re.IGNORECASE)
_PARTITION = re.compile(
    r"^([ \t]*PartitionName=[^\n#]*?)[ \t]+(Topology=[^\s#]+)([^\n#]*?)([ \t]*(?:#[^\n]*)?)$", re.MULTILINE | re.IGNORECASE
)
_EMPTY_YAML = ("", "---", "...", "[]", "--- []")


@dataclass(frozen=True)
class AgentsTopology:
    """The text of the agent's topology files beside slurm.conf; empty if there are none."""

    conf: str = ""
    yaml: str = ""

    @property
    def is_described(self) -> bool:
        """Return whether the files describe any switch or block."""
        lines = (line.partition("#")[0].strip() for line in self.yaml.splitlines())
        return bool(_BLOCK.search(self.conf) or _SWITCH.search(self.conf)) or any(line not in _EMPTY_YAML for line in lines)


def turn_off(text: str) -> str:
    """Return slurm.conf with the agent's topology disabled; ``SlurmConf.parse`` restores it.

    Without a description, slurmctld does not start or rejects jobs. Without a plugin line, it uses the default, whose name
    differs between releases.
    """
    return _PARTITION.sub(rf"\1\3 {COMMENTED_OUT}\2\4", _PLUGIN.sub(COMMENTED_OUT, text))


def placeholder(text: str) -> str | None:
    """Return an empty topology.conf if slurm.conf names a topology plugin; None otherwise.

    The agent rewrites the plugin line whenever the cluster changes, and slurmctld waits a minute for a missing file.
    """
    return "" if _PLUGIN.search(text) else None


def plugin(text: str) -> str:
    """Return the plugin for this topology.conf."""
    return "topology/block" if _BLOCK.search(_CONTINUED.sub("", text)) else "topology/tree"


def problem(text: str, nodes: list[str], agents: AgentsTopology) -> str | None:
    """Return why the cluster file's topology is not used, or None."""
    if agents.conf or agents.is_described:
        return "slurm.topology is not used: HyperPod's agent maintains the topology"
    difference = mismatch(text, nodes)
    return f"slurm.topology is not used: {difference}" if difference else None


def mismatch(text: str, nodes: list[str]) -> str | None:
    """Return how a topology.conf differs from ``nodes``, or None."""
    lines = re.sub(r"#.*", "", _CONTINUED.sub("", text))
    named = {host for names in _NODES.findall(lines) for host in expand(names)}
    missing, unknown = sorted(set(nodes) - named), sorted(named - set(nodes))
    if missing:
        return f"it lacks {_some(missing)}"
    if unknown:
        return f"it names {_some(unknown)}, which the cluster does not have"
    return None


def _some(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
