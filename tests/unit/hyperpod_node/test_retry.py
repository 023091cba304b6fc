"""Waiting has a bound, is said, and never comes in step."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from hyperpod_node.errors import NodeError
from hyperpod_node.retry import RetryPolicy, retry
from hyperpod_node.slurm.daemon import wait_for
from tests.unit.hyperpod_node.fake_system import FakeSystem
from tests.unit.hyperpod_node.manual_time import ManualTime


@dataclass
class Failing:
    """Fails so many times."""

    times: int
    tries: int = 0

    def __call__(self) -> str:
        self.tries += 1
        if self.tries <= self.times:
            raise NodeError(f"not yet {self.tries}")
        return "done"


@pytest.mark.fault(60)
def test_what_is_there_at_once_costs_no_wait_and_no_line(capsys: pytest.CaptureFixture[str]) -> None:
    time = ManualTime()
    assert retry("it", Failing(0), RetryPolicy(60, clock=time.clock)) == "done"
    assert time.pauses == []
    assert capsys.readouterr().out == ""


@pytest.mark.fault(60)
def test_pauses_double_up_to_a_limit() -> None:
    time = ManualTime()
    retry("it", Failing(6), RetryPolicy(60, first_pause_s=1, longest_pause_s=8, clock=time.clock))
    assert time.pauses == [1, 2, 4, 8, 8, 8]


@pytest.mark.parametrize(("is_outside", "longest_s"), [(False, 1), (True, 15)])
def test_only_what_all_nodes_ask_at_once_is_asked_seldom(tmp_path: Path, is_outside: bool, longest_s: float) -> None:
    node = FakeSystem(tmp_path)
    node.system.retry("it", Failing(8), 600, is_outside=is_outside)
    assert node.time.pauses[-1] == longest_s


def test_a_daemon_that_starts_is_noticed_within_a_second(tmp_path: Path) -> None:
    node, failing = FakeSystem(tmp_path), Failing(8)

    def attempt() -> None:
        failing()

    wait_for("slurmctld", "slurmctld", attempt, 120, node.system)
    assert max(node.time.pauses) == 1


@pytest.mark.fault(62)
def test_two_nodes_never_try_again_at_the_same_moment() -> None:
    pauses = []
    for chance in (0.0, 0.3, 1.0):
        time = ManualTime(chance=chance)
        retry("it", Failing(1), RetryPolicy(60, first_pause_s=4, clock=time.clock))
        pauses += time.pauses
    assert pauses == [2, pytest.approx(2.6), 4]


@pytest.mark.fault(60)
def test_patience_ends_at_its_bound_with_the_last_error() -> None:
    time, failing = ManualTime(), Failing(10_000)
    with pytest.raises(NodeError, match=r"^it: gave up after \d+ attempts in (\d+) s: not yet \d+$") as caught:
        retry("it", failing, RetryPolicy(100, clock=time.clock))
    assert f"not yet {failing.tries}" in str(caught.value)
    assert 80 < time.now_s <= 100


@pytest.mark.fault(60)
def test_a_long_wait_says_so_now_and_then_and_not_at_each_try(capsys: pytest.CaptureFixture[str]) -> None:
    time = ManualTime()
    retry("DNS", Failing(100), RetryPolicy(1000, longest_pause_s=1, log_every_s=30, clock=time.clock))
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(": not yet")[0] for line in lines] == ["waiting for DNS, up to 1000 s"] * 4


def test_a_short_wait_is_not_worth_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    retry("DNS", Failing(3), RetryPolicy(1000, clock=ManualTime().clock))
    assert capsys.readouterr().out == ""


def test_an_error_that_is_not_the_node_s_is_not_waited_for() -> None:
    def broken() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        retry("it", broken, RetryPolicy(60, clock=ManualTime().clock))
