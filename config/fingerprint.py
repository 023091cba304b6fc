"""Hash values for use in names and templates."""

import hashlib
import json

LENGTH = 16


def fingerprint(*parts: object) -> str:
    """Return a short hash of the parts, equal on every machine; parts are JSON values or are converted to text."""
    canonical = json.dumps(parts, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(canonical.encode()).hexdigest()[:LENGTH]
