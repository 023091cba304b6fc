import threading
import time
from collections.abc import Callable

from local_aws.nodes.machines.priority_semaphore import PrioritySemaphore

WITHIN_S = 10.0


def wait_until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + WITHIN_S
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.001)


def test_the_lowest_rank_goes_next_and_of_equals_the_first_to_come() -> None:
    semaphore, order = PrioritySemaphore(1), list[str]()

    def go(name: str, rank: int) -> None:
        with semaphore.acquire(rank):
            order.append(name)

    with semaphore.acquire(0):
        waiting = []
        for name, rank in (("worker 1", 1), ("worker 2", 1), ("controller", 0)):
            waiting.append(threading.Thread(target=go, args=(name, rank), daemon=True))
            waiting[-1].start()
            wait_until(lambda: semaphore.waiting == len(waiting))
    for thread in waiting:
        thread.join(WITHIN_S)

    assert order == ["controller", "worker 1", "worker 2"]


def test_as_many_as_there_are_places_go_on_at_once() -> None:
    semaphore, third_goes = PrioritySemaphore(2), threading.Event()

    def go() -> None:
        with semaphore.acquire(0):
            third_goes.set()

    with semaphore.acquire(0):
        with semaphore.acquire(0):
            threading.Thread(target=go, daemon=True).start()
            wait_until(lambda: semaphore.waiting == 1)
            assert not third_goes.is_set()
        assert third_goes.wait(WITHIN_S)
