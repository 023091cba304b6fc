"""Runs in Lambda. The tags by which a cluster tells whose it is.

CreateCluster itself puts them on; an adoption alone does so later. A later release may add tags below the prefix and raise the
version; what decides is the stack and the logical id alone.
"""

from collections.abc import Mapping
from typing import NamedTuple

PREFIX = "hyperpod-cdk:"
STACK_ID = PREFIX + "stack-id"
LOGICAL_ID = PREFIX + "logical-id"
VERSION = PREFIX + "version"
CURRENT_VERSION = "1"
CLUSTER_TAG = PREFIX + "cluster"
"""Below our prefix, but an ordinary tag of the stack's: it tells people the cluster file, and decides nothing."""


class Owner(NamedTuple):
    """The resource of a stack that a cluster belongs to."""

    stack_id: str
    logical_id: str

    @property
    def tags(self) -> dict[str, str]:
        """The tags that say so."""
        return {STACK_ID: self.stack_id, LOGICAL_ID: self.logical_id, VERSION: CURRENT_VERSION}

    def __str__(self) -> str:
        """The owner in an error's words."""
        return f"resource {self.logical_id} of stack {self.stack_id}"


def owner_of(tags: Mapping[str, str]) -> Owner | None:
    """The owner that ``tags`` name, if they name one."""
    if STACK_ID in tags and LOGICAL_ID in tags:
        return Owner(tags[STACK_ID], tags[LOGICAL_ID])
    return None


def is_reserved(key: str) -> bool:
    """Whether a tag is no user's: AWS's own, or one that says whose the cluster is."""
    return key.startswith("aws:") or (key.startswith(PREFIX) and key != CLUSTER_TAG)
