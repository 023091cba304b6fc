"""An HTTP request to a service in IAM's terms: the action, the resources, the condition keys."""

from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Parameters: TypeAlias = dict[str, Any]

# IAM's names that differ from the signing name or the operation's name.
_PREFIXES = {"monitoring": "cloudwatch"}
_ACTIONS = {
    "lambda:Invoke": "lambda:InvokeFunction",
    "lambda:InvokeAsync": "lambda:InvokeFunction",
    "s3:HeadBucket": "s3:ListBucket",
    "s3:ListBucketMultipartUploads": "s3:ListBucketMultipartUploads",
}

# A bucket's setting in the query -> IAM's name of it. moto takes these requests for CreateBucket, DeleteBucket and ListBucket.
_BUCKET_SETTINGS = {
    "encryption": "EncryptionConfiguration",
    "inventory": "InventoryConfiguration",
    "object-lock": "BucketObjectLockConfiguration",
    "ownershipControls": "BucketOwnershipControls",
    "publicAccessBlock": "BucketPublicAccessBlock",
    "replication": "ReplicationConfiguration",
}


@dataclass(frozen=True)
class Permissions:
    """The permissions that a request requires: on every one of ``resources``."""

    action: str
    resources: tuple[str, ...]
    context: dict[str, str | list[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Place:
    """The service, account and region of a request."""

    service: str
    region: str
    account: str

    def arn(self, rest: str, *, service: str = "", region: str | None = None) -> str:
        """Return an ARN in this account and region, by default of this service."""
        where = self.region if region is None else region
        return f"arn:aws:{service or self.service}:{where}:{self.account}:{rest}"


def action_name(service: str, operation: str) -> str:
    """IAM's name of an operation: `lambda:InvokeFunction` for Lambda's `Invoke`."""
    name = f"{_PREFIXES.get(service, service)}:{operation}"
    return _ACTIONS.get(name, name)


def bucket_setting_action(method: str, query: Container[str]) -> str | None:
    """Return IAM's name of a request for a bucket's setting that moto does not know; IAM counts its deletion as a Put."""
    verb = "Get" if method == "GET" else "Put"
    return next((f"s3:{verb}{setting}" for name, setting in _BUCKET_SETTINGS.items() if name in query), None)


def required_permissions(place: Place, operation: str, parameters: Parameters) -> Permissions:
    """Return the permissions that a request to any service but S3 requires."""
    find = _RESOURCES.get(place.service)
    resource = find(place, parameters) if find else None
    return Permissions(action_name(place.service, operation), (resource or "*",), _context(place, parameters))


def _context(place: Place, parameters: Parameters) -> dict[str, str | list[str]]:
    tags = dict(_tags(parameters))
    context: dict[str, str | list[str]] = {f"aws:RequestTag/{key}": value for key, value in tags.items()}
    context["aws:RequestedRegion"] = place.region
    keys = list(tags) or parameters.get("TagKeys")
    if keys:
        context["aws:TagKeys"] = list(keys)
    if place.service == "monitoring" and "Namespace" in parameters:
        context["cloudwatch:namespace"] = parameters["Namespace"]
    return context


def _tags(parameters: Parameters) -> Iterator[tuple[str, str]]:
    found = parameters.get("Tags") or parameters.get("tags") or []
    if isinstance(found, dict):
        yield from found.items()
        return
    for tag in found:
        yield tag.get("Key") or tag.get("key"), tag.get("Value") or tag.get("value") or ""


def _function(place: Place, parameters: Parameters) -> str | None:
    name = parameters.get("FunctionName")
    if not name:
        return None
    if name.startswith("arn:"):
        return str(name)
    return place.arn(f"function:{name.rsplit('function:', 1)[-1]}")


def _log_stream(place: Place, parameters: Parameters) -> str | None:
    group = parameters.get("logGroupName")
    return place.arn(f"log-group:{group}:log-stream:{parameters.get('logStreamName') or ''}") if group else None


def _first_arn(*names: str) -> Callable[[Place, Parameters], str | None]:
    return lambda _, parameters: next((parameters[name] for name in names if parameters.get(name)), None)


def _named(name: str, kind: str, rest: str = "") -> Callable[[Place, Parameters], str | None]:
    def find(place: Place, parameters: Parameters) -> str | None:
        value = str(parameters.get(name) or "")
        return value if not value or value.startswith("arn:") else place.arn(f"{kind}/{value.lstrip('/')}{rest}")

    return find


def _identity(place: Place, parameters: Parameters) -> str | None:
    name = parameters.get("RoleName")
    return place.arn(f"role/{name}", region="") if name else parameters.get("PolicyArn")


# How each service's requests name the resource. Actions without a resource, and services not listed here, require "*".
_RESOURCES: dict[str, Callable[[Place, Parameters], str | None]] = {
    "cloudformation": _named("StackName", "stack", "/*"),
    "lambda": _function,
    "states": _first_arn("stateMachineArn", "executionArn", "activityArn", "resourceArn"),
    "logs": _log_stream,
    "sts": _first_arn("RoleArn"),
    "sns": _first_arn("TopicArn", "TargetArn"),
    "secretsmanager": _first_arn("SecretId"),
    "kms": _named("KeyId", "key"),
    "iam": _identity,
    "ssm": _named("Name", "parameter"),
    "events": _named("Name", "rule"),
    "dynamodb": _named("TableName", "table"),
}
