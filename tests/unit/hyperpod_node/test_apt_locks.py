"""A node waits until nobody installs packages on it, with real locks of real processes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hyperpod_node.errors import NodeError
from hyperpod_node.retry import Clock
from hyperpod_node.steps import readiness

from tests.unit.hyperpod_node.a_node import a_context
from tests.unit.hyperpod_node.manual_time import ManualTime

HOLD = """
import fcntl, sys
lock = open(sys.argv[1], "w")
fcntl.lockf(lock, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    return tmp_path / "lock-frontend"


@pytest.fixture
def holder(lock: Path) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(lock)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


@pytest.mark.fault(60)
def test_a_lock_that_is_never_released_ends_the_node_with_its_holder(lock: Path, holder: subprocess.Popen[str]) -> None:
    time = ManualTime()
    with pytest.raises(NodeError, match=rf"{lock} is held by process {holder.pid} \(python"):
        readiness.apply(a_context(), readiness.System((lock,), clock=time.clock))
    assert time.now_s <= 600


@pytest.mark.fault(60)
def test_a_node_goes_on_as_soon_as_the_lock_is_released(lock: Path, holder: subprocess.Popen[str]) -> None:
    pauses = []

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        holder.kill()
        holder.wait()

    readiness.apply(a_context(), readiness.System((lock,), clock=Clock(sleep=sleep)))
    assert len(pauses) == 1


@pytest.mark.fault(60)
def test_locks_that_nobody_holds_or_that_are_not_there_cost_no_wait(lock: Path, tmp_path: Path) -> None:
    lock.touch()
    time = ManualTime()
    readiness.apply(a_context(), readiness.System((lock, tmp_path / "none"), clock=time.clock))
    assert time.pauses == []
