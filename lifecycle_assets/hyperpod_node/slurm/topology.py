"""topology.conf, used only while it fits the cluster: with a node missing from it, Slurm rejects jobs."""

from __future__ import annotations

import re

from hyperpod_node.slurm.host_list import expand

# As Slurm reads its files: a line that ends in a backslash goes on in the next one, and blanks may be around an equals sign.
_CONTINUED = re.compile(r"\\[ \t]*\n")
_NODES = re.compile(r"\bNodes\s*=\s*\"?([^\s\"]+)", re.IGNORECASE)
_BLOCK = re.compile(r"^\s*BlockName\s*=", re.MULTILINE | re.IGNORECASE)


def plugin(text: str) -> str:
    """The plugin that reads such a topology.conf."""
    return "topology/block" if _BLOCK.search(_CONTINUED.sub("", text)) else "topology/tree"


def misfits(text: str, nodes: list[str]) -> str | None:
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
