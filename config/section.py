"""Define the base class of sections, and fields with the effect of a change."""

from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, Field


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
