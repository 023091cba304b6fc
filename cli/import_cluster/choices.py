"""The user's choices for an import."""

from dataclasses import dataclass
from enum import StrEnum


class Keep(StrEnum):
    """The existing resources that the cluster file reuses."""

    NOTHING = "nothing"
    NETWORK = "network"
    EVERYTHING = "everything"


@dataclass(frozen=True)
class Choices:
    """The options of an import."""

    keep: Keep = Keep.NOTHING
    region: str | None = None
    zone: str | None = None
    vpc_id: str | None = None
    vpc_cidr: str | None = None
    scripts: str | None = None
    """The folder of the original's scripts, from the cluster file's own folder."""
    drop_unknown_groups: bool = False
    adopt: bool = False
    profile: str | None = None
