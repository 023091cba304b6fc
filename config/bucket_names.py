"""Name the bucket for a cluster's scripts, and the role that configures it."""

import hashlib
import json

# A bucket name has 63 characters; `sagemaker-`, the account, the longest region and two hyphens need 38.
MAX_LABEL_LENGTH = 25
HASH = 8

# With a wildcard for the qualifier, or a new bootstrap could not deploy to an old bucket.
CLOUDFORMATION_ROLE = "cdk-*-cfn-exec-role-*"
"""The role of `cdk bootstrap` that CloudFormation uses: only it and the root user may configure the bucket."""


def script_bucket_name(cluster: str, account: str, region: str) -> str:
    """Return the bucket for the cluster's scripts; HyperPod requires names that start with ``sagemaker-``."""
    return f"sagemaker-{_label(cluster)}-{account}-{region}"


def _label(name: str) -> str:
    """Return the cluster's name, shortened with a hash if it is too long."""
    if len(name) <= MAX_LABEL_LENGTH:
        return name
    digest = hashlib.sha256(json.dumps([name], separators=(",", ":")).encode()).hexdigest()[:HASH]
    return f"{name[: MAX_LABEL_LENGTH - HASH - 1].rstrip('-')}-{digest}"
