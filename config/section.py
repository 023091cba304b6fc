"""Define the base class of sections, fields with the effect of a change, and types of fields of several sections."""

from enum import StrEnum
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

KEY_ARN = r"^arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{12}:key/[a-zA-Z0-9-]+$"
KeyArn = Annotated[str, StringConstraints(pattern=KEY_ARN, max_length=2048)]


class Change(StrEnum):
    """The effect of a changed field on a running cluster."""

    NOTHING = "nothing"
    IN_PLACE = "in place"
    RUNNING_NODES = "running nodes"
    NEW_NODES = "new nodes"
    REPLACES_NODES = "replaces nodes"
    REPLACES_NAMESPACE = "replaces the namespace"
    REPLACES_FILE_SYSTEM = "replaces the file system"
    REPLACES_CLUSTER = "replaces the cluster"
    REPLACES_BOTH = "replaces cluster and file system"
    SECOND_CLUSTER = "a second cluster"
    IN_TWO_DEPLOYMENTS = "in two deployments"
    AT_CREATION = "at creation"


class Removal(StrEnum):
    """The effect of `cdk destroy` on a resource."""

    RETAIN = "retain"
    DESTROY = "destroy"


class Section(BaseModel):
    """A section of the file: unknown keys are errors, and values are immutable."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def setting(description: str, change: Change, default: Any = ..., *, api: str = "", **bounds: Any) -> Any:
    """Define a field with its description, the effect of a change, its default and its bounds.

    ``api`` is the member of a request that gets the field's value: ``service:Operation Member.Member``.
    """
    return Field(default, description=description, json_schema_extra={"change": change.value, "api": api}, **bounds)
