"""A node waits until nobody installs packages on it, with real locks of real processes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from hyperpod_node.steps import readiness
from tests.unit.hyperpod_node.a_node import a_context
from tests.unit.hyperpod_node.fake_system import FakeSystem

HOLD = """
import fcntl, sys
lock = open(sys.argv[1], "w")
fcntl.lockf(lock, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def node(tmp_path: Path) -> FakeSystem:
    return FakeSystem(tmp_path)


@pytest.fixture
def lock(node: FakeSystem) -> Path:
    return node.write(readiness.DPKG_LOCKS[0], "")


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
def test_a_lock_that_is_never_released_is_reported_with_its_holder(
    node: FakeSystem, lock: Path, holder: subprocess.Popen[str], capsys: pytest.CaptureFixture[str]
) -> None:
    readiness.apply(a_context(), node.system)
    [warning] = [line for line in capsys.readouterr().out.splitlines() if line.startswith("warning: ")]
    assert f"{lock} is held by process {holder.pid} (python" in warning
    assert warning.endswith("; the next steps do not wait for it")
    assert node.time.now_s <= 600


@pytest.mark.fault(60)
def test_a_node_continues_as_soon_as_the_lock_is_released(node: FakeSystem, holder: subprocess.Popen[str]) -> None:
    pauses = []

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        holder.kill()
        holder.wait()

    readiness.apply(a_context(), replace(node.system, clock=replace(node.time.clock, sleep=sleep)))
    assert len(pauses) == 1


@pytest.mark.fault(60)
def test_free_and_missing_locks_cost_no_wait(node: FakeSystem) -> None:
    node.write(readiness.DPKG_LOCKS[0], "")
    readiness.apply(a_context(), node.system)
    assert node.time.pauses == []
