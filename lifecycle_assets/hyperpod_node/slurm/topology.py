"""Slurm's topology: the cluster file's, used only while it fits the cluster, or the one that HyperPod's agent maintains.

With a node missing from topology.conf, Slurm rejects jobs. The agent has been seen to turn a topology on without describing one:
https://github.com/aws-samples/sample-physical-ai-scaffolding-kit/pull/14 and /pull/23
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from hyperpod_node.slurm.host_list import expand
from hyperpod_node.slurm.slurm_conf import COMMENTED_OUT

# As Slurm reads its files: a line that ends in a backslash goes on in the next one, and blanks may be around an equals sign.
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
    """The topology files beside slurm.conf that are not ours; the text is empty where there is none."""

    conf: str = ""
    yaml: str = ""

    @property
    def is_described(self) -> bool:
        """Return whether they describe any switch or block."""
        lines = (line.partition("#")[0].strip() for line in self.yaml.splitlines())
        return bool(_BLOCK.search(self.conf) or _SWITCH.search(self.conf)) or any(line not in _EMPTY_YAML for line in lines)


def turn_off(text: str) -> str:
    """Return slurm.conf without the topology that the agent turned on in it; ``SlurmConf.parse`` restores it.

    Without a description slurmctld does not start, or it rejects jobs. Without a plugin's name it uses its default, which has
    other names in other releases.
    """
    return _PARTITION.sub(rf"\1\3 {COMMENTED_OUT}\2\4", _PLUGIN.sub(COMMENTED_OUT, text))


def placeholder(text: str) -> str | None:
    """Return a topology.conf without a topology where slurm.conf asks for one; None elsewhere.

    The agent writes the plugin's line again whenever the cluster changes, and slurmctld waits a minute for a missing file.
    """
    return "" if _PLUGIN.search(text) else None


def plugin(text: str) -> str:
    """The plugin that reads such a topology.conf."""
    return "topology/block" if _BLOCK.search(_CONTINUED.sub("", text)) else "topology/tree"


def problem(text: str, nodes: list[str], agents: AgentsTopology) -> str | None:
    """Return why the cluster file's topology is not used; None where it is."""
    if agents.conf or agents.is_described:
        return "slurm.topology is not used: HyperPod's agent maintains the topology"
    misfit = mismatch(text, nodes)
    return f"jobs are placed without a topology: {misfit}" if misfit else None


def mismatch(text: str, nodes: list[str]) -> str | None:
    """What keeps a topology.conf from being used for ``nodes``; None where it fits."""
    lines = re.sub(r"#.*", "", _CONTINUED.sub("", text))
    named = {host for names in _NODES.findall(lines) for host in expand(names)}
    missing, unknown = sorted(set(nodes) - named), sorted(named - set(nodes))
    if missing:
        return f"slurm.topology does not name {_some(missing)}"
    if unknown:
        return f"slurm.topology names {_some(unknown)}, which the cluster does not have"
    return None


def _some(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
