"""Name the bucket for a cluster's scripts."""

import hashlib
import json

# A bucket name has 63 characters; `sagemaker-`, the account, the longest region and two hyphens need 38.
MAX_LABEL_LENGTH = 25
HASH = 8


def script_bucket_name(cluster: str, account: str, region: str) -> str:
    """Return the bucket for the cluster's scripts; HyperPod requires names that start with ``sagemaker-``."""
    return f"sagemaker-{_label(cluster)}-{account}-{region}"


def _label(name: str) -> str:
    """Return the cluster's name, shortened with a hash if it is too long."""
    if len(name) <= MAX_LABEL_LENGTH:
        return name
    digest = hashlib.sha256(json.dumps([name], separators=(",", ":")).encode()).hexdigest()[:HASH]
    return f"{name[: MAX_LABEL_LENGTH - HASH - 1].rstrip('-')}-{digest}"
