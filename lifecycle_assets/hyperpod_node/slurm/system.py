"""The node as the Slurm steps see it."""

from __future__ import annotations

import pwd
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from hyperpod_node.errors import NodeError
from hyperpod_node.retry import CLOCK, Clock
from hyperpod_node.shell import Run, run

PREFIX = Path("opt/slurm")  # where HyperPod's images have Slurm


def _owner_of(user: str) -> tuple[int, int]:
    try:
        account = pwd.getpwnam(user)
    except KeyError:
        raise NodeError(f"slurm.conf names the user {user!r}, whom this node does not have") from None
    return account.pw_uid, account.pw_gid


def _connect(address: str, port: int) -> None:
    try:
        socket.create_connection((address, port), timeout=3).close()
    except OSError as error:
        raise NodeError(f"{address}:{port}: {error.strerror or error}") from None


@dataclass(frozen=True)
class System:
    """A node's files, programs, time and network; a test hands the steps another one."""

    root: Path = Path("/")
    run: Run = run
    clock: Clock = CLOCK
    owner_of: Callable[[str], tuple[int, int]] = _owner_of
    connect: Callable[[str, int], None] = _connect
    host_name: Callable[[], str] = socket.gethostname

    @property
    def etc(self) -> Path:
        """The folder of slurm.conf."""
        return self.root / PREFIX / "etc"

    @property
    def slurm_conf(self) -> Path:
        """HyperPod's agent writes it on the controllers; the other nodes get its content from slurmctld."""
        return self.etc / "slurm.conf"

    @property
    def host(self) -> str:
        """This node's name in slurm.conf."""
        return self.host_name().split(".")[0]

    def find(self, program: str) -> Path | None:
        """The file of one of Slurm's programs, if the node has it."""
        folders = [self.root / PREFIX / "bin", self.root / PREFIX / "sbin", self.root / "usr/bin", self.root / "usr/sbin"]
        return next((folder / program for folder in folders if (folder / program).exists()), None)

    def slurm(self, program: str, *arguments: str, timeout_s: float = 60, environment: Mapping[str, str] | None = None) -> str:
        """Run one of Slurm's programs; /opt/slurm/bin is not on every shell's path."""
        return self.run(str(self.find(program) or program), *arguments, timeout_s=timeout_s, environment=environment)


SYSTEM = System()
