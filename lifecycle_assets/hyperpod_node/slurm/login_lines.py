"""Take login nodes out of slurm.conf: HyperPod's agent may list them there, and so in the partition of all nodes.

They run no slurmd, so they would be down forever, and their shape would hide the one that all workers share.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hyperpod_node.slurm.host_list import expand
from hyperpod_node.slurm.slurm_conf import COMMENTED_OUT, COMPLETED

if TYPE_CHECKING:
    from collections.abc import Set

_NAMES = re.compile(
    r"^[ \t]*NodeName=(?!DEFAULT\b)(?P<names>[^\s#]+)[^\n]*|^[ \t]*PartitionName=[^\n#]*?\bNodes=(?P<nodes>[^\s#]+)[^\n]*",
    re.MULTILINE | re.IGNORECASE,
)


def leave_out(text: str, hosts: Set[str]) -> str:
    """Return slurm.conf without ``hosts`` in its nodes and partitions; ``SlurmConf.parse`` restores the agent's lines."""

    def without(match: re.Match[str]) -> str:
        group = "names" if match["names"] else "nodes"
        names = expand(match[group])
        kept = [name for name in names if name not in hosts]
        if len(kept) == len(names):
            return match[0]
        start, end = (place - match.start() for place in match.span(group))
        if not kept and group == "nodes":  # the partition stays, because slurmctld ends the jobs of one that disappears
            start -= len(" Nodes=")
        code = f"{match[0][:start]}{','.join(kept)}{match[0][end:]}".partition("#")[0].rstrip()
        return (f"{code} {COMPLETED}\n" if kept or group == "nodes" else "") + COMMENTED_OUT + match[0]

    return _NAMES.sub(without, text) if hosts else text
