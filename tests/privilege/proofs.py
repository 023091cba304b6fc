"""Prove that roles need their actions: without each action, a scenario fails."""

import os
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

import pytest

from tests.privilege.account import Deployed, PartFailedError
from tests.privilege.rights import Right, denials, used, without

IMPATIENCE_S = 15.0  # two and a half of CloudFormation's hours
LATE_S = 5.0  # a function that only responds can begin after the request has failed

A = TypeVar("A", bound=Deployed)
Capture: TypeAlias = pytest.CaptureFixture[str]


@dataclass(frozen=True)
class Scenario(Generic[A]):
    """A scenario, and whether it starts with a cluster."""

    name: str
    play: Callable[[A], None]
    with_cluster: bool

    def run(self, account: A, lacking: AbstractContextManager[None] | None = None) -> None:
        """Set up the account and run the scenario, ``lacking`` a right; raise PartFailedError if it fails."""
        account.begin(with_cluster=self.with_cluster)
        with lacking or nullcontext():
            self.play(account)
            account.check()


def prove(account: A, scenarios: Sequence[Scenario[A]], untested: Collection[tuple[str, str]], capsys: Capture) -> None:
    """Fail if a scenario fails with all rights, or if none fails without a right that is not in ``untested``."""
    rights = account.rights()[:: int(os.environ.get("PRIVILEGE_EVERY", "1"))]
    needing = _needing(account, scenarios)
    account.patience_s = IMPATIENCE_S
    unproven = set()
    for right in rights:
        failure = _missed(account, right, needing.get((right.role, right.action), []))
        if not failure:
            unproven.add((right.holder, right.action))
        with capsys.disabled():
            print(f"{right}  {failure or 'UNTESTED'}", flush=True)
    with capsys.disabled():
        print(f"PRIVILEGE {len(rights) - len(unproven)} tested {len(unproven)} untested")
    expected = set(untested) & {(right.holder, right.action) for right in rights}
    assert unproven == expected, "list untested actions in the constructs"


def _needing(account: A, scenarios: Sequence[Scenario[A]]) -> dict[tuple[str, str], list[Scenario[A]]]:
    """Return the scenarios that use each action of each role, fastest first."""
    found: dict[tuple[str, str], list[tuple[float, int]]] = {}
    for number, scenario in enumerate(scenarios):
        started = time.monotonic()
        scenario.run(account)
        for each in used():
            found.setdefault(each, []).append((time.monotonic() - started, number))
    return {key: [scenarios[number] for _, number in sorted(numbers)] for key, numbers in found.items()}


def _missed(account: A, right: Right, scenarios: Sequence[Scenario[A]]) -> str:
    """Return how the first scenario failed for lack of the right, or nothing if none did."""
    for scenario in scenarios:
        try:
            scenario.run(account, without(account.client("iam"), right))
        except PartFailedError as error:
            if _denied(right):
                text = " ".join(str(error).split())
                who = "it" if right.action in text else "IAM's record"
                return f"{scenario.name}: {text[:120]} ({who} names the action)"
    return ""


def _denied(right: Right) -> bool:
    """Return whether IAM refuses the right, at the latest within seconds."""
    end = time.monotonic() + LATE_S
    while not (found := bool(denials(right))) and time.monotonic() < end:
        time.sleep(0.2)
    return found
