import logging
import threading
from collections.abc import Iterator

import pytest

from local_aws import durations
from local_aws.clock import Clock
from local_aws.schedule import Schedule


@pytest.fixture(autouse=True)
def own_figures() -> Iterator[None]:
    yield
    durations.reset()


def test_actions_happen_in_the_order_in_which_they_are_due() -> None:
    clock, seen, done = Clock(20), list[str](), threading.Event()
    schedule = Schedule(clock)
    with clock.work():  # at the host's pace: these lines take less than a second
        schedule.after(2, lambda: seen.append("second"))
        schedule.after(1, lambda: seen.append("first"))
        schedule.after(3, done.set)
    assert done.wait(10)
    assert seen == ["first", "second"]


def test_an_action_that_fails_is_logged_and_the_next_still_happens(caplog: pytest.LogCaptureFixture) -> None:
    schedule, done = Schedule(Clock(20)), threading.Event()

    def fail() -> None:
        raise ZeroDivisionError

    schedule.after(0, fail)
    schedule.after(0.1, done.set)
    with caplog.at_level(logging.ERROR):
        assert done.wait(10)
    assert "ZeroDivisionError" in caplog.text


def test_what_is_cleared_does_not_happen() -> None:
    schedule, seen, done = Schedule(Clock(20)), list[str](), threading.Event()
    schedule.after(5, lambda: seen.append("cleared"))
    schedule.clear()
    schedule.after(10, done.set)
    assert done.wait(10)
    assert seen == []


def test_a_duration_can_be_changed_and_taken_back() -> None:
    before = durations.duration("fsx.create")
    assert durations.change({"fsx.create": 1})["fsx.create"] == durations.duration("fsx.create") == 1
    durations.reset()
    assert durations.duration("fsx.create") == before


def test_a_duration_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match=r"unknown durations: \['fsx.creation'\]; use"):
        durations.change({"fsx.creation": 1})
