"""Runs a function for many nodes in parallel sessions."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

PARALLEL_SESSIONS = 5
"""Sessions at a time: StartSession's rate is limited for the account."""
Item = TypeVar("Item")
Answer = TypeVar("Answer")


def in_parallel(function: Callable[[Item], Answer], items: Iterable[Item]) -> list[Answer]:
    """Return the function's answer for each item, in their order."""
    with ThreadPoolExecutor(PARALLEL_SESSIONS) as pool:
        return list(pool.map(function, items))
