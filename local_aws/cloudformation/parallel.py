"""Walk a dependency graph, with independent nodes in parallel."""

from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from threading import Event

from local_aws.cloudformation.graph import Graph

WORKERS = 8
Work = Callable[[str], None]


@dataclass
class Outcome:
    """The result of a walk: errors by node, and the nodes that were not reached."""

    failed: dict[str, BaseException] = field(default_factory=dict)
    skipped: set[str] = field(default_factory=set)


def walk(graph: Graph, work: Work, halt: Event, *, keep_going: bool = False) -> Outcome:
    """Call ``work`` for each node; a failure sets ``halt``, or with ``keep_going`` only skips the nodes that depend on it."""
    outcome, done, waiting = Outcome(), set[str](), dict(graph)
    running: dict[Future[None], str] = {}
    with ThreadPoolExecutor(WORKERS, thread_name_prefix="cloudformation") as pool:
        while True:
            if not halt.is_set():
                for name in [name for name, needs in waiting.items() if needs <= done]:
                    del waiting[name]
                    running[pool.submit(work, name)] = name
            if not running:
                break
            finished, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in finished:
                _settle(future, running.pop(future), outcome, done)
            if outcome.failed and not keep_going:
                halt.set()
    outcome.skipped = set(waiting)
    return outcome


def _settle(future: Future[None], name: str, outcome: Outcome, done: set[str]) -> None:
    error = future.exception()
    if error is None:
        done.add(name)
    else:
        outcome.failed[name] = error
