"""A defect to plant in the real code."""

from collections.abc import Callable
from typing import Any, NamedTuple


class Defect(NamedTuple):
    """One defect: what to replace, and with what."""

    holder: Any
    name: str
    make: Callable[[Any], Any]
