"""Runs in Lambda. A bad sign must last before it is believed: DescribeCluster may answer from a moment ago."""

from cluster_resource.memory import Memory
from cluster_resource.moment import Moment

GONE_S = 55
"""How long a cluster that was seen must be absent before it is gone: three steps."""


def doubted(memory: Memory, sign: str, moment: Moment) -> Memory:
    """The memory with ``sign`` noted, and since when it is seen without a break."""
    if memory.doubt == sign:
        return memory
    return memory._replace(doubt=sign, doubt_since=str(moment))


def undoubted(memory: Memory) -> Memory:
    """The memory after a good sign."""
    return memory._replace(doubt="", doubt_since="") if memory.doubt else memory


def lasts(memory: Memory, moment: Moment, seconds: float) -> bool:
    """Whether the sign is there for ``seconds`` at least."""
    return moment.since_s(memory.doubt_since) >= seconds
