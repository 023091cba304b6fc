"""Programs on the nodes that run, called by their instance names."""

import itertools
import time
from collections.abc import Mapping
from pathlib import Path

from local_aws.nodes import client
from local_aws.nodes.runner import SimulatedNodes

LIMIT_S = 60.0
# Slurm's commands say this while sackd or slurmd replaces the configuration that slurmctld sent; or, on a controller, while
# slurm.conf has what its agent has just written, and Slurm does not know.
BEING_REPLACED = (
    "Could not establish a configuration source",
    "unrecognized key: Topology",
    "Requested topology configuration is not available",
)
BEING_REPLACED_S = 15.0
_NUMBERS = itertools.count()


def run_on(node: Mapping[str, str], *argv: str, status: int = 0, timeout_s: float = LIMIT_S) -> str:
    """Return what a program prints on a node that a runner described; it must end with this status and within this time.

    Its standard error, in which warnings come and go, is only shown if it fails. A Slurm command that found no configuration has
    done nothing, and is run again for a few seconds.
    """
    end = time.monotonic() + BEING_REPLACED_S
    errors = f"/run/errors-of-tests-{next(_NUMBERS)}"
    while True:
        ended, printed = _asked(node, ("sh", "-c", 'exec 2> "$0"; exec "$@"', errors, *argv), timeout_s)
        if ended == status:
            return "\n".join(printed)
        problems = [*printed, *_asked(node, ("cat", errors), timeout_s)[1]]
        assert any(text in line for text in BEING_REPLACED for line in problems), (ended, problems)
        assert time.monotonic() < end, problems
        time.sleep(0.5)


def _asked(node: Mapping[str, str], argv: tuple[str, ...], timeout_s: float) -> tuple[object, list[str]]:
    """Return the exit status of a program on a node, and the lines that it prints."""
    lines: list[str] = []
    command: dict[str, object] = {"argv": argv, "environment": {}, "folder": "/", "unit": None, "timeout_s": timeout_s}
    return client.ask(Path(node["folder"]), "run", node["id"], command, on_line=lines.append), lines


class OnNodes:
    """The nodes of a runner's only cluster."""

    def __init__(self, runner: SimulatedNodes) -> None:
        self._runner = runner

    def names(self) -> list[str]:
        """The instance names of all."""
        return [node["name"] for node in self._runner.describe()]

    def host(self, name: str) -> str:
        """A node's host name."""
        return self._node(name)["host"]

    def run(self, name: str, *argv: str, status: int = 0) -> str:
        """What a program prints on a node; it must end with this status."""
        return run_on(self._node(name), *argv, status=status)

    def hosts_in_state(self, state: str, *, count: int) -> set[str]:
        """The workers that Slurm has in this state, once there are ``count``."""
        login = next(name for name in self.names() if "login" in name or "controller" in name)
        end = time.monotonic() + LIMIT_S
        while True:
            lines = self.run(login, "sinfo", "--noheader", "--Node", "--format=%N %T").splitlines()
            hosts = {host for host, now in (line.split() for line in lines) if now == state}
            if len(hosts) == count:
                return hosts
            assert time.monotonic() < end, lines
            time.sleep(0.2)

    def _node(self, name: str) -> dict[str, str]:
        return next(node for node in self._runner.describe() if node["name"] == name)
