"""What the original of an imported cluster does not say, and what of it the new file goes on using."""

from dataclasses import dataclass
from enum import StrEnum


class Keep(StrEnum):
    """What of the original's own resources the cluster goes on using."""

    NOTHING = "nothing"
    NETWORK = "network"
    EVERYTHING = "everything"


@dataclass(frozen=True)
class Choices:
    """The answers that whoever imports gives."""

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
