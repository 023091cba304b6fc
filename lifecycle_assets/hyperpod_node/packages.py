"""Packages of the AMI's own distribution, for what an AMI may lack; apt checks their signatures."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from hyperpod_node.retry import CLOCK, Clock, RetryPolicy, retry

if TYPE_CHECKING:
    from hyperpod_node.shell import Run

TIMEOUT_S, ONE_TRY_S = 600, 300
QUIET = {"DEBIAN_FRONTEND": "noninteractive", "NEEDRESTART_MODE": "l"}
LOCK = "DPkg::Lock::Timeout=60"


def install(package: str, run: Run, clock: Clock = CLOCK) -> None:
    """Install ``package``; mirrors that do not answer yet and a lock that is held are waited for."""
    print(f"the image has no {package}: apt installs it")
    apt = partial(run, "apt-get", "-o", LOCK, environment=QUIET, timeout_s=ONE_TRY_S)

    def attempt() -> None:
        apt("update", "--quiet")
        apt("install", "--yes", "--quiet", "--no-install-recommends", package)

    retry(f"apt's {package}", attempt, RetryPolicy(TIMEOUT_S, first_pause_s=2, longest_pause_s=30, clock=clock))
