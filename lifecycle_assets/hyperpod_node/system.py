"""The operating system of a node, as the steps and the Slurm modules use it."""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from hyperpod_node.accounts import ACCOUNTS, Account, Accounts
from hyperpod_node.as_user import as_user
from hyperpod_node.errors import NodeError
from hyperpod_node.retry import CLOCK, Clock, RetryPolicy, retry
from hyperpod_node.server_certificate import verify
from hyperpod_node.shell import Run, run

Result = TypeVar("Result")
SLURM = Path("/opt/slurm")  # where HyperPod's images have Slurm
CODE = Path("/opt/hyperpod-cdk")  # where the step hyperpod-precheck copies this package
PROGRAM_FOLDERS = (SLURM / "bin", SLURM / "sbin", Path("/usr/bin"), Path("/usr/sbin"))


def _connect(address: str, port: int) -> None:
    try:
        socket.create_connection((address, port), timeout=3).close()
    except OSError as error:
        raise NodeError(f"{address}:{port}: {error.strerror or error}") from None


@dataclass(frozen=True)
class System:
    """A node's files, programs, accounts, clock and network; tests replace them."""

    root: Path = Path("/")
    run: Run = run
    clock: Clock = CLOCK
    accounts: Accounts = ACCOUNTS
    as_user: Callable[[Account, Callable[[], None]], None] = as_user
    resolve: Callable[[str, None], object] = socket.getaddrinfo
    connect: Callable[[str, int], None] = _connect
    host_name: Callable[[], str] = socket.gethostname
    verify: Callable[[str, int, str], None] = verify

    def path(self, path: str | Path) -> Path:
        """Return the file at the absolute ``path``, below ``root``."""
        return self.root / str(path).lstrip("/")

    @property
    def host(self) -> str:
        """Return this node's name in slurm.conf."""
        return self.host_name().split(".")[0]

    @property
    def slurm_etc(self) -> Path:
        """Return the folder of slurm.conf."""
        return self.path(SLURM / "etc")

    @property
    def slurm_conf(self) -> Path:
        """Return slurm.conf, which only controllers have; HyperPod's agent writes it."""
        return self.slurm_etc / "slurm.conf"

    def find(self, program: str) -> Path | None:
        """Return the file of ``program``, if the node has it."""
        files = (self.path(folder / program) for folder in PROGRAM_FOLDERS)
        return next((file for file in files if file.exists()), None)

    def succeeds(self, program: str, *arguments: str, timeout_s: float = 60) -> bool:
        """Return whether a program ends with status 0."""
        try:
            self.run(program, *arguments, timeout_s=timeout_s)
        except NodeError:
            return False
        return True

    def slurm(self, program: str, *arguments: str, timeout_s: float = 60, environment: Mapping[str, str] | None = None) -> str:
        """Run a Slurm command; not every PATH has /opt/slurm/bin."""
        return self.run(str(self.find(program) or program), *arguments, timeout_s=timeout_s, environment=environment)

    def retry(
        self,
        what: str,
        attempt: Callable[[], Result],
        timeout_s: float,
        *,
        first_pause_s: float = 0.5,
        longest_pause_s: float | None = None,
        is_outside: bool = False,
    ) -> Result:
        """Return the result of the first ``attempt`` that raises no NodeError; ``is_outside``: see ``RetryPolicy``.

        Pauses are short: other nodes wait for this one. They are long for what all nodes of a cluster may ask at once.
        """
        longest_pause_s = longest_pause_s or (15 if is_outside else 1)
        return retry(what, attempt, RetryPolicy(timeout_s, first_pause_s, longest_pause_s, is_outside, self.clock))

    def owner_of(self, user: str) -> tuple[int, int]:
        """Return uid and gid of the account ``user``."""
        account = self.accounts.user(user)
        if account is None:
            raise NodeError(f"slurm.conf: unknown user {user!r}; create it on this node")
        return account.uid, account.gid


SYSTEM = System()
