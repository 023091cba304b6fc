"""The IAM principals with access to an EKS cluster, by its access entries."""

import re
from collections.abc import Sequence
from typing import Any

from botocore.exceptions import ClientError

from cli.pages import listed

SERVICE_ROLE = "/aws-service-role/"
_ASSUMED = re.compile(r"arn:([a-z-]+):sts::(\d{12}):assumed-role/([^/]+)/.*")


def access_entries(eks: Any, cluster: str) -> list[str]:
    """Return the ARNs of the principals, without AWS's own roles."""
    entries = listed(eks, "list_access_entries", "accessEntries", clusterName=cluster)
    return [arn for arn in entries if SERVICE_ROLE not in arn]


def has_access(caller: str, principals: Sequence[str]) -> bool:
    """Return whether the caller's ARN, as STS returns it, is one of the principals. STS leaves out the path of a role."""
    assumed = _ASSUMED.fullmatch(caller)
    if not assumed:
        return caller in principals
    start, name = f"arn:{assumed[1]}:iam::{assumed[2]}:role/", assumed[3]
    return any(arn.startswith(start) and arn.rpartition("/")[2] == name for arn in principals)


def principal_of(iam: Any, caller: str) -> str:
    """Return the role or user of a caller's ARN as `eks.admins` accepts it; without the role's path if IAM refuses."""
    assumed = _ASSUMED.fullmatch(caller)
    if not assumed:
        return caller.replace(":sts:", ":iam:", 1) if ":user/" in caller else caller
    try:
        return str(iam.get_role(RoleName=assumed[3])["Role"]["Arn"])
    except ClientError:
        return f"arn:{assumed[1]}:iam::{assumed[2]}:role/{assumed[3]}"
