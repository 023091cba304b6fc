"""Identities: what tells a consumer in another stack that a resource it uses is replaced.

A weak cross-stack reference has the same text before and after a replacement, and the CDK command line skips a stack whose
template did not change. A consumer that also carries the identity changes with it (ADR 3).
"""

import hashlib
import json


def identity_of(*replacing: object) -> str:
    """A short hash of the values whose change replaces a resource."""
    text = json.dumps(replacing, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
