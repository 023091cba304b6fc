import threading
import time

import pytest

from local_aws.clock import Clock


def test_awss_time_passes_as_many_times_faster_as_asked() -> None:
    clock = Clock(1000)
    begin, moment = time.monotonic(), clock.now()
    clock.sleep(50)
    assert 0.05 <= time.monotonic() - begin < 1
    assert (clock.now() - moment).total_seconds() >= 50


def test_an_event_ends_the_wait() -> None:
    clock, event = Clock(1), threading.Event()
    threading.Timer(0.02, event.set).start()
    assert clock.wait(event, 60)


def test_a_wait_without_an_end_takes_its_full_time_and_reports_it() -> None:
    clock = Clock(1000)
    assert not clock.wait(threading.Event(), 20)
    assert clock.seconds() >= 20


def test_the_clock_is_no_faster_than_the_hosts_during_work() -> None:
    clock = Clock(100_000)
    with clock.work():
        before = clock.seconds()
        time.sleep(0.02)
        assert clock.seconds() - before < 5
    before = clock.seconds()
    time.sleep(0.02)
    assert clock.seconds() - before >= 2000


def test_a_wait_that_began_before_work_ends_only_after_it() -> None:
    clock = Clock(1000)
    waited: list[float] = []

    def wait() -> None:
        clock.sleep(100)
        waited.append(clock.seconds())

    thread = threading.Thread(target=wait)
    with clock.work():
        thread.start()
        time.sleep(0.2)
        assert not waited
    thread.join(5)
    assert waited
    assert waited[0] >= 100


def test_a_speed_must_be_positive() -> None:
    with pytest.raises(ValueError, match="must be positive, got 0"):
        Clock(0)
