"""The name of the bucket of a cluster's scripts, which the templates make and a preflight looks for."""

import hashlib
import json

# Of a bucket name's 63 characters, `sagemaker-`, the account, the longest region and two hyphens take 38.
LONGEST_LABEL = 25
HASH = 8


def script_bucket_name(cluster: str, account: str, region: str) -> str:
    """The bucket of the cluster file's scripts; HyperPod's documentation wants names that begin with ``sagemaker-``."""
    return f"sagemaker-{_label(cluster)}-{account}-{region}"


def _label(name: str) -> str:
    """The cluster file's name, with a hash for its end where it is too long."""
    if len(name) <= LONGEST_LABEL:
        return name
    digest = hashlib.sha256(json.dumps([name], separators=(",", ":")).encode()).hexdigest()[:HASH]
    return f"{name[: LONGEST_LABEL - HASH - 1].rstrip('-')}-{digest}"
