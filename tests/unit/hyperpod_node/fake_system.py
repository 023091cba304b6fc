"""A node's operating system for tests: files in a folder, recorded programs, fake accounts and manual time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from hyperpod_node.accounts import Account
from hyperpod_node.errors import NodeError
from hyperpod_node.system import System
from tests.unit.hyperpod_node.fake_accounts import FakeAccounts
from tests.unit.hyperpod_node.manual_time import ManualTime
from tests.unit.hyperpod_node.recorded_run import Answer, RecordedRun


def as_test_user(account: Account, work: Callable[[], None]) -> None:
    """Do ``work`` as the user that runs the tests."""
    work()


@dataclass
class FakeSystem:
    """A node below ``root``; ``listening`` are the addresses that accept connections."""

    root: Path
    host: str = "ip-10-1-0-6"
    listening: set[str] = field(default_factory=set)
    listens_after_s: float = 0.0
    time: ManualTime = field(default_factory=ManualTime)
    run: RecordedRun = field(default_factory=RecordedRun)
    accounts: FakeAccounts = field(default_factory=FakeAccounts)
    as_user: Callable[[Account, Callable[[], None]], None] = as_test_user
    resolve: Callable[[str, None], object] = lambda name, port: []
    verify: Callable[[str, int, str], None] = lambda host, port, authorities: None

    @property
    def system(self) -> System:
        return System(
            root=self.root,
            run=self.run,
            clock=self.time.clock,
            accounts=self.accounts,
            as_user=self.as_user,
            resolve=self.resolve,
            connect=self._connect,
            verify=self.verify,
            host_name=lambda: f"{self.host}.us-west-2.compute.internal",
        )

    def path(self, path: str | Path) -> Path:
        return self.system.path(path)

    def write(self, path: str, content: str) -> Path:
        file = self.path(path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
        return file

    def answers(self, program: str, answer: str | NodeError | Answer, *, after_s: float = 0) -> None:
        """Let the program print the answer or fail with it, before ``after_s`` as if its server were down."""

        def say(arguments: tuple[str, ...], stdin: str | None) -> str:
            if self.time.now_s < after_s:
                raise NodeError("Connection refused")
            if isinstance(answer, NodeError):
                raise answer
            return answer(arguments, stdin) if callable(answer) else answer

        self.run.programs[program] = say

    def _connect(self, address: str, port: int) -> None:
        if self.time.now_s < self.listens_after_s or address not in self.listening:
            raise NodeError(f"{address}:{port}: Connection refused")
