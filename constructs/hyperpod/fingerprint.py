"""Short hashes that change when, and only when, what they stand for changes."""

import hashlib
import json

LENGTH = 16


def fingerprint(*parts: object) -> str:
    """The same text for the same parts, on every machine; the parts are JSON values or print as text."""
    canonical = json.dumps(parts, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(canonical.encode()).hexdigest()[:LENGTH]
