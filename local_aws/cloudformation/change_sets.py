"""Change sets: named plans that are described and executed once."""

import json
import uuid
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from local_aws.clock import host_now
from local_aws.cloudformation.schemas import Path, schema
from local_aws.cloudformation.template import Json, Target

NO_CHANGES = "The submitted information didn't contain changes. Submit different information to create a change set."


@dataclass(frozen=True)
class PropertyChange:
    """One property that changes."""

    path: Path
    before: Any
    after: Any
    recreates: str  # Always, Conditionally, Never
    static: bool  # whether the value is known before the update runs


@dataclass(frozen=True)
class ResourceChange:
    """One resource that is added, modified or removed."""

    action: str
    logical_id: str
    type: str
    physical_id: str = ""
    replacement: str = ""
    properties: tuple[PropertyChange, ...] = ()
    attributes: tuple[str, ...] = ()
    before: Json = field(default_factory=dict)
    after: Json = field(default_factory=dict)
    policy: str = ""


@dataclass
class ChangeSet:
    """A change set of a stack."""

    stack_id: str
    name: str
    kind: str
    target: Target
    description: str = ""
    role: str = ""
    capabilities: tuple[str, ...] = ()
    nested: bool = False
    mode: Json = field(default_factory=dict)
    status: str = "CREATE_COMPLETE"
    reason: str = ""
    execution: str = "AVAILABLE"
    changes: tuple[ResourceChange, ...] = ()
    parameters: list[Json] = field(default_factory=list)
    created: datetime = field(default_factory=host_now)

    def __post_init__(self) -> None:
        _, _, _, self.region, account, stack = self.stack_id.split(":")
        self.stack_name = stack.split("/")[1]
        self.id = f"arn:aws:cloudformation:{self.region}:{account}:changeSet/{self.name}/{uuid.uuid4()}"

    def fail(self, reason: str) -> None:
        """Mark the change set as not executable, with the reason."""
        self.status, self.execution, self.reason = "FAILED", "UNAVAILABLE", reason

    def summary(self) -> Json:
        """Return the entry for a list of change sets."""
        shown = {
            "StackId": self.stack_id,
            "StackName": self.stack_name,
            "ChangeSetId": self.id,
            "ChangeSetName": self.name,
            "ExecutionStatus": self.execution,
            "Status": self.status,
            "CreationTime": self.created,
            "IncludeNestedStacks": self.nested,
        }
        return shown | {key: value for key, value in (("StatusReason", self.reason), ("Description", self.description)) if value}

    def describe(self, *, with_values: bool) -> Json:
        """Return the change set in full; with property values on request."""
        return self.summary() | {
            "Parameters": self.parameters,
            "Tags": [{"Key": key, "Value": value} for key, value in self.target.tags],
            "Capabilities": list(self.capabilities),
            "Changes": [_describe(change, self.region, with_values=with_values) for change in self.changes],
            "DeploymentConfig": self.mode or {"Mode": "STANDARD"},
        }


def _describe(change: ResourceChange, region: str, *, with_values: bool) -> Json:
    tag_property = getattr(schema(change.type, region), "tag_property", None)
    shown: Json = {
        "Action": change.action,
        "LogicalResourceId": change.logical_id,
        "ResourceType": change.type,
        "Scope": _scope(change, tag_property),
        "Details": _details(change, tag_property, with_values=with_values),
    }
    named = {"PhysicalResourceId": change.physical_id, "Replacement": change.replacement, "PolicyAction": change.policy}
    shown |= {key: value for key, value in named.items() if value}
    if with_values:
        contexts = {"BeforeContext": change.before, "AfterContext": change.after}
        shown |= {key: json.dumps({"Properties": value}, sort_keys=True) for key, value in contexts.items() if value}
    return {"Type": "Resource", "ResourceChange": shown}


def _scope(change: ResourceChange, tag_property: str | None) -> list[str]:
    of_properties = {"Tags" if one.path[0] == tag_property else "Properties" for one in change.properties}
    return sorted({*of_properties, *change.attributes})


def _details(change: ResourceChange, tag_property: str | None, *, with_values: bool) -> list[Json]:
    details = [_property_detail(one, tag_property, with_values=with_values) for one in change.properties]
    if not with_values:
        details = _once_per_property(details)
    attributes = [
        {
            "Target": {"Attribute": name, "RequiresRecreation": "Never"},
            "Evaluation": "Static",
            "ChangeSource": "DirectModification",
        }
        for name in change.attributes
    ]
    return details + attributes


def _property_detail(one: PropertyChange, tag_property: str | None, *, with_values: bool) -> Json:
    is_tag = one.path[0] == tag_property
    target: Json = {"Attribute": "Tags" if is_tag else "Properties", "RequiresRecreation": one.recreates}
    if not is_tag:
        target["Name"] = one.path[0]
    if with_values:
        kind = "Add" if one.before is None else "Remove" if one.after is None else "Modify"
        target |= {"Path": "/".join(("", "Properties", *one.path)), "AttributeChangeType": kind}
        values = {"BeforeValue": one.before, "AfterValue": one.after}
        target |= {key: _text(value) for key, value in values.items() if value is not None}
    evaluation = "Static" if one.static else "Dynamic"
    return {
        "Target": target,
        "Evaluation": evaluation,
        "ChangeSource": "DirectModification" if one.static else "ResourceReference",
    }


def _once_per_property(details: list[Json]) -> list[Json]:
    strongest: dict[tuple[str, str], Json] = {}
    rank = {"Never": 0, "Conditionally": 1, "Always": 2}
    for detail in details:
        target = detail["Target"]
        key = target["Attribute"], target.get("Name", "")
        if key not in strongest or rank[target["RequiresRecreation"]] > rank[strongest[key]["Target"]["RequiresRecreation"]]:
            strongest[key] = detail
    return list(strongest.values())


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)
