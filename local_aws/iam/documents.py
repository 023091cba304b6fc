"""The policies in moto's state: roles' inline, attached and trust policies, and those of buckets and functions."""

import json
from typing import Any, Protocol, cast
from urllib.parse import unquote

from moto.awslambda.exceptions import UnknownFunctionException
from moto.awslambda.models import lambda_backends
from moto.iam.models import iam_backends
from moto.kms.models import kms_backends
from moto.s3.models import s3_backends
from moto.sns.models import sns_backends

from local_aws.iam.policy import Statement


class Role(Protocol):
    """The used parts of moto's role."""

    id: str
    arn: str
    name: str
    policies: dict[str, str]
    managed_policies: dict[str, Any]
    assume_role_policy_document: str
    permissions_boundary_arn: str | None
    tags: Any


def find_role(account: str, role_arn: str) -> Role | None:
    """Return the role with this ARN, or None; moto's own function fails while another thread makes or deletes a role."""
    roles = [*iam_backends[account][_partition(role_arn)].roles.values()]
    return next((cast(Role, role) for role in roles if role.arn == role_arn), None)


def person_arn(account: str, access_key: str) -> str:
    """Return the ARN of the IAM user with this key, or of the account's root user, as whom other keys count."""
    user = iam_backends[account]["aws"].get_user_from_access_key_id(access_key)
    return str(user.arn) if user else f"arn:aws:iam::{account}:root"


def identity_statements(role: Role) -> list[Statement]:
    """Return all statements of the role's inline and attached policies."""
    attached = [_default_document(policy) for policy in role.managed_policies.values()]
    return [statement for document in [*role.policies.values(), *attached] for statement in statements(document)]


def boundary_statements(account: str, role: Role) -> list[Statement] | None:
    """Return the statements of the role's permissions boundary, or None without one; a deleted boundary allows nothing."""
    if not role.permissions_boundary_arn:
        return None

    policy = iam_backends[account][_partition(role.arn)].managed_policies.get(role.permissions_boundary_arn)
    return statements(_default_document(policy)) if policy else []


def trust_statements(role: Role) -> list[Statement]:
    """Return the statements of the role's trust policy."""
    return statements(role.assume_role_policy_document)


def resource_statements(account: str, resource: str) -> list[Statement]:
    """Return the statements of the resource's own policy: a bucket's (also for its objects), function's, topic's or key's."""
    service = (resource.split(":") + [""] * 3)[2]
    if service == "s3":
        bucket = find_bucket(resource)
        return statements(bucket.policy.decode()) if bucket and bucket.policy else []
    if service == "lambda" and ":function:" in resource:
        return _function_statements(account, resource)
    if service == "sns" and (topics := _regional(sns_backends, account, resource)):
        topic = topics.topics.get(resource)
        return statements(topic.policy) if topic else []
    if service == "kms" and (keys := _regional(kms_backends, account, resource)):
        key = keys.keys.get(resource.rsplit("/", 1)[-1])
        return statements(key.policy) if key else []
    return []


def find_bucket(resource: str) -> Any | None:
    """Return moto's bucket for the ARN of a bucket or an object, or None."""
    name = resource.split(":::", 1)[-1].split("/", 1)[0]
    for account in list(s3_backends.values()):
        bucket = account[_partition(resource)].buckets.get(name)
        if bucket:
            return bucket
    return None


def statements(document: str | dict[str, Any]) -> list[Statement]:
    """Return the statements of a policy document, given as JSON, URL-quoted JSON or an object."""
    if isinstance(document, str):
        document = json.loads(document if document.lstrip().startswith("{") else unquote(document))
    found = cast(dict[str, Any], document).get("Statement", [])
    return found if isinstance(found, list) else [found]


def _function_statements(account: str, resource: str) -> list[Statement]:

    region, name = resource.split(":")[3], resource.split(":")[6]
    try:
        function = lambda_backends[account][region].get_function(name)
    except UnknownFunctionException:
        return []
    return list(function.policy.statements) if function.policy else []


def _regional(backends: Any, account: str, resource: str) -> Any | None:
    """Return moto's backend for the region of the ARN; None for a pattern."""
    region = resource.split(":")[3]
    return backends[account].get(region)


def _default_document(policy: Any) -> str:
    return next(str(version.document) for version in policy.versions if version.is_default)


def _partition(arn: str) -> str:
    return arn.split(":", 2)[1] if arn.startswith("arn:") else "aws"
