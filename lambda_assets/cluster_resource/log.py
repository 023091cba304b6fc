"""Write JSON log lines. Never log the event: it contains the ResponseURL."""

import json
import sys


def log(message: str, **facts: object) -> None:
    """Write one line."""
    sys.stdout.write(json.dumps({"message": message, **facts}, default=str) + "\n")
    sys.stdout.flush()
