"""Runs in Lambda. One JSON line per fact in the function's log; never the event, which holds the ResponseURL."""

import json
import sys


def log(message: str, **facts: object) -> None:
    """Write one line."""
    sys.stdout.write(json.dumps({"message": message, **facts}, default=str) + "\n")
    sys.stdout.flush()
