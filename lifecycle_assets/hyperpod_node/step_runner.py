"""Run a step of a node. Also runs on EKS nodes, whose Python is 3.7."""

from __future__ import annotations

import time
import traceback
from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError, problem_of

if TYPE_CHECKING:
    from collections.abc import Callable


def run_step(title: str, apply: Callable[[], bool | None]) -> None:
    """Run the step and print how long it took; an error names the step."""
    started = time.monotonic()
    try:
        applied = apply()
    except Exception as error:
        if not isinstance(error, (NodeError, OSError)):  # a full disk raises OSError
            traceback.print_exc()  # a bug in the scripts: its author needs the traceback, the operator only the last line
        raise NodeError(f"step '{title}': {problem_of(error, OSError)}") from error
    if applied is not False:
        print(f"{title}: {time.monotonic() - started:.1f} s")
