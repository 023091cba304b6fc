"""Do work in a user's home as that user, because root must not follow a user's links."""

from __future__ import annotations

import multiprocessing
import os
from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.queues import SimpleQueue

    from hyperpod_node.accounts import Account


def as_user(account: Account, work: Callable[[], None], timeout_s: float = 60) -> None:
    """Do ``work`` in a process that runs as ``account``; raise its NodeError here."""
    forks = multiprocessing.get_context("fork")
    problems: SimpleQueue[str] = forks.SimpleQueue()
    process = forks.Process(target=_become_and_work, args=(account, work, problems))
    process.start()
    process.join(timeout_s)
    if process.exitcode is None:
        process.kill()
        raise NodeError(f"work in {account.home} did not end within {timeout_s:g} s")
    if not problems.empty():
        raise NodeError(problems.get())
    if process.exitcode:
        raise NodeError(f"work in {account.home} ended with status {process.exitcode}")


def _become_and_work(account: Account, work: Callable[[], None], problems: SimpleQueue[str]) -> None:
    try:
        os.chdir("/")
        os.umask(0o077)
        if os.getuid() != account.uid:
            os.initgroups(account.name, account.gid)
            os.setgid(account.gid)
            os.setuid(account.uid)
        work()
    except NodeError as error:
        problems.put(str(error))
    except OSError as error:
        problems.put(f"{error.filename or account.home}: {error.strerror}")
