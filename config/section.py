"""What every section of a cluster file shares: strictness, and a field that says what changing it does."""

from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class Change(StrEnum):
    """What a changed field does to a cluster that is running."""

    NOTHING = "nothing"
    IN_PLACE = "in place"
    NEW_NODES = "new nodes"
    REPLACES_NODES = "replaces nodes"
    REPLACES_CLUSTER = "replaces the cluster"


class Removal(StrEnum):
    """What `cdk destroy` does with a resource that holds data."""

    RETAIN = "retain"
    DESTROY = "destroy"


class Section(BaseModel):
    """A section of the file: unknown keys are errors, values never change."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def setting(description: str, change: Change, default: Any = ..., *, api: str = "", **bounds: Any) -> Any:
    """Describe one field: its line in the documentation, what changing it does, its default, its bounds, and what it becomes.

    ``api`` is the member of a request that holds the field's value: ``service:Operation Member.Member``.
    """
    return Field(default, description=description, json_schema_extra={"change": change.value, "api": api}, **bounds)
