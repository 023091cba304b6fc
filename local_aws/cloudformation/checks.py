"""Check whether the embedded AWS supports a template: unknown types and properties are refused, never skipped."""

from collections.abc import Iterable, Iterator
from typing import Any

from botocore.exceptions import ClientError

from local_aws.cloudformation import clients, resources
from local_aws.cloudformation.errors import ResourceError
from local_aws.cloudformation.intrinsics import LATER
from local_aws.cloudformation.resources.custom import is_custom
from local_aws.cloudformation.resources.provider import Provider
from local_aws.cloudformation.schemas import Path, Schema, schema
from local_aws.cloudformation.template import Json

FUNCTION_PREFIX = "Fn::"
UNSUPPORTED = "not part of the embedded AWS"
EXISTS = "AWS::EarlyValidation::ResourceExistenceCheck"
# The property with the name of a resource, and a call with its argument that fails if there is no such resource.
_NAMED = {
    "AWS::IAM::Role": ("RoleName", "iam", "get_role", "RoleName"),
    "AWS::Lambda::Function": ("FunctionName", "lambda", "get_function", "FunctionName"),
    "AWS::Logs::LogGroup": ("LogGroupName", "logs", "describe_log_streams", "logGroupName"),
    "AWS::S3::Bucket": ("BucketName", "s3", "get_bucket_location", "Bucket"),
}


def template_problems(definitions: Json, region: str) -> list[str]:
    """Return what prevents the creation of these resources, one text per problem."""
    return [problem for name, definition in definitions.items() for problem in _problems(name, definition, region)]


def _problems(name: str, definition: Json, region: str) -> Iterator[str]:
    resource_type, properties = definition["Type"], definition.get("Properties") or {}
    if is_custom(resource_type):
        if "ServiceToken" not in properties:
            yield f"Template format error: property ServiceToken must be given (resource {name})"
        return
    provider, described = resources.provider_of(resource_type), schema(resource_type, region)
    if provider is None or described is None:
        yield f"{UNSUPPORTED}: {resource_type}"
        return
    yield from _property_problems(provider, described, name, properties)


def name_conflict(resource_type: str, region: str, properties: Json) -> Iterator[str]:
    """Yield AWS's words if a new resource has the name of another (CloudFormation user guide: validate stack deployments)."""
    key, service, operation, argument = _NAMED.get(resource_type, ("", "", "", ""))
    name = properties.get(key)
    if name is None or LATER in str(name):
        return
    try:
        getattr(clients.client(service, region), operation)(**{argument: name})
    except ClientError:  # not found, or a name that only the creation refuses
        return
    yield f"[{EXISTS}] Resource of type '{resource_type}' with identifier '{name}' already exists."


def check_resolved(resource_type: str, name: str, properties: Json, region: str) -> None:
    """Refuse resolved properties that the embedded AWS does not implement."""
    problems = list(_problems(name, {"Type": resource_type, "Properties": properties}, region))
    if problems:
        raise ResourceError("; ".join(problems))


def _property_problems(provider: Provider, described: Schema, name: str, properties: Json) -> Iterator[str]:
    invalid = f"Properties validation failed for resource {name} with message:"
    for key in sorted(described.document.get("required", ())):
        if key not in properties and not _is_function(properties):
            yield f"{invalid} [#: required key [{key}] not found]"
    yield from _extraneous(described, invalid, described.document, properties, ())
    known = {tuple(path.split("/")) for path in (*provider.acts_on, *provider.without_effect)}
    for path in sorted(set(_unknown(properties, known, ()))):
        yield f"{UNSUPPORTED}: {provider.type} property {'/'.join(path)} (resource {name})"


def _extraneous(described: Schema, invalid: str, node: Json, value: Any, path: Path) -> Iterator[str]:
    """Yield errors for properties that AWS does not have, in AWS's own words."""
    for part in _branches(value):
        if isinstance(part, list):
            for index, item in enumerate(part):
                yield from _extraneous(described, invalid, described.items_of(node), item, (*path, str(index)))
        elif isinstance(part, dict) and not _is_function(part) and (known := described.properties_of(node)) is not None:
            for key, item in part.items():
                here = "/".join(("#", *path))
                if key not in known:
                    yield f"{invalid} [{here}: extraneous key [{key}] is not permitted]"
                elif (*path, key) in described.paths("readOnlyProperties"):
                    yield f"{invalid} [{here}: readOnly property [{key}] is not permitted]"
                else:
                    yield from _extraneous(described, invalid, known[key], item, (*path, key))


def _unknown(value: Any, known: set[Path], path: Path) -> Iterator[Path]:
    """Yield paths in ``value`` that are neither known, nor below or above a known one."""
    for part in _branches(value):
        if isinstance(part, list):
            for item in part:
                yield from _unknown(item, known, path)
        elif isinstance(part, dict) and not _is_function(part):
            for key, item in part.items():
                here = (*path, key)
                if here in known:
                    continue
                if any(one[: len(here)] == here for one in known):
                    yield from _unknown(item, known, here)
                else:
                    yield here


def _branches(value: Any) -> Iterable[Any]:
    """Return ``value``, or both results of an Fn::If."""
    if isinstance(value, dict) and set(value) == {"Fn::If"}:
        _, yes, no = value["Fn::If"]
        return [*_branches(yes), *_branches(no)]
    return [value]


def _is_function(value: Any) -> bool:
    if not isinstance(value, dict) or len(value) != 1:
        return False
    (key,) = value
    return key == "Ref" or str(key).startswith(FUNCTION_PREFIX)
