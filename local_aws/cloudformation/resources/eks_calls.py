"""Properties of EKS's resource types as arguments of its API."""

from typing import Any

from local_aws.cloudformation.resources import provider
from local_aws.cloudformation.resources.provider import Context
from local_aws.cloudformation.template import Json

GONE = "ResourceNotFoundException"


def lower(value: Any) -> Any:
    """Return a property in the API's spelling: CloudFormation's names begin in upper case."""
    if isinstance(value, dict):
        return {f"{name[0].lower()}{name[1:]}": lower(item) for name, item in value.items()}
    return [lower(item) for item in value] if isinstance(value, list) else value


def pick(properties: Json, *names: str) -> Json:
    """Return the named properties that are present, as arguments of a call."""
    return {f"{name[0].lower()}{name[1:]}": lower(properties[name]) for name in names if name in properties}


def with_tags(context: Context, properties: Json) -> Json:
    """Return the tags as an argument, if there are any; EKS refuses those of CloudFormation from its callers."""
    tags = {tag["Key"]: tag["Value"] for tag in context.tags(properties) if not tag["Key"].startswith("aws:")}
    return {"tags": tags} if tags else {}


def retag(context: Context, arn: str, properties: Json, before: Json) -> None:
    """Set and remove the changed tags."""
    provider.retag(context.client("eks"), properties, before, provider.as_map, resourceArn=arn)
