"""Install packages of the AMI's distribution that the AMI lacks; apt checks their signatures."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hyperpod_node.system import System

TIMEOUT_S, ONE_TRY_S = 600, 300
QUIET = {"DEBIAN_FRONTEND": "noninteractive", "NEEDRESTART_MODE": "l"}
LOCK = "DPkg::Lock::Timeout=60"


def install(packages: Sequence[str], system: System, timeout_s: float = TIMEOUT_S) -> None:
    """Install ``packages``; wait for mirrors that do not respond yet and for apt's lock."""
    names = " ".join(packages)
    print(f"installing {names} with apt: the image does not have {'it' if len(packages) == 1 else 'them'}")
    apt = partial(system.run, "apt-get", "-o", LOCK, environment=QUIET, timeout_s=min(ONE_TRY_S, timeout_s))

    def attempt() -> None:
        apt("update", "--quiet")
        apt("install", "--yes", "--quiet", "--no-install-recommends", *packages)

    system.retry(f"apt's {names}", attempt, timeout_s, first_pause_s=2, longest_pause_s=30, is_outside=True)
