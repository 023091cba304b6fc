"""The state of a stack: its resources, events and deployed version."""

import threading
import uuid
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from local_aws.clock import host_now
from local_aws.cloudformation.change_sets import ChangeSet
from local_aws.cloudformation.template import Json


@dataclass
class StackResource:
    """A resource of a stack in its current version."""

    logical_id: str
    type: str
    definition: Json
    physical_id: str = ""
    properties: Json = field(default_factory=dict)
    attributes: Json = field(default_factory=dict)
    status: str = ""
    reason: str = ""
    changed: datetime = field(default_factory=host_now)
    requested: bool = False  # whether its service was asked to create it, even if it never returned an id

    def policy(self, name: str) -> str:
        """Return the DeletionPolicy or UpdateReplacePolicy."""
        return str(self.definition.get(name, "Delete"))


@dataclass(frozen=True)
class Version:
    """The template, parameters, tags and outputs that a stack was deployed with."""

    body: str = "{}"
    template: Json = field(default_factory=dict)
    given: dict[str, str] = field(default_factory=dict)  # parameters as the caller gave them
    parameters: dict[str, Any] = field(default_factory=dict)  # resolved values
    tags: tuple[tuple[str, str], ...] = ()
    outputs: tuple[Json, ...] = ()


@dataclass(frozen=True)
class Touched:
    """A resource that a deployment created (``before`` is None) or changed."""

    resource: StackResource
    before: StackResource | None


@dataclass(frozen=True)
class Leftover:
    """A resource to delete, and the policy that may retain it."""

    resource: StackResource
    policy: str


@dataclass
class Unfinished:
    """A failed creation (``first``) or update, with what is left of its rollback to ``version``."""

    version: Version
    first: bool
    touched: list[Touched]
    leftovers: list[Leftover] = field(default_factory=list)

    @property
    def verb(self) -> str:
        """Return the start of the rollback's statuses."""
        return "ROLLBACK" if self.first else "UPDATE_ROLLBACK"


@dataclass(frozen=True)
class Drift:
    """The result of a drift detection: the checked resources, as DescribeStackResourceDrifts shows them."""

    id: str
    time: datetime
    resources: list[Json]


class Operation:
    """A running creation, update, rollback or deletion."""

    def __init__(self) -> None:
        self.token = str(uuid.uuid4())
        self.halt = threading.Event()  # ends all waits and starts no more work; a rollback may follow
        self.cancelled = False  # no rollback follows
        self.ended = threading.Event()


class Stack:
    """A stack of an account and region."""

    def __init__(self, account: str, region: str, name: str) -> None:
        self.account, self.region, self.name = account, region, name
        self.id = f"arn:aws:cloudformation:{region}:{account}:stack/{name}/{uuid.uuid4()}"
        self.created = host_now()
        self.updated: datetime | None = None
        self.deleted: datetime | None = None
        self.status, self.reason = "REVIEW_IN_PROGRESS", ""
        self.version = Version()
        self.resources: dict[str, StackResource] = {}
        self.events: list[Json] = []
        self.change_sets: dict[str, ChangeSet] = {}
        self.role = ""
        self.capabilities: list[str] = []
        self.protected = self.disable_rollback = False
        self.operation = Operation()
        self.unfinished: Unfinished | None = None
        self.drift: Drift | None = None
        self.lock = threading.RLock()

    def report(self, status: str, reason: str = "") -> None:
        """Set the stack's status, and add an event."""
        with self.lock:
            self._add_event(status, reason, (self.name, self.id, "AWS::CloudFormation::Stack"))
            self.status, self.reason = status, reason

    def report_resource(self, resource: StackResource, status: str, reason: str = "") -> None:
        """Set a resource's status, and add an event."""
        with self.lock:
            self._add_event(status, reason, (resource.logical_id, resource.physical_id, resource.type))
            resource.status, resource.reason, resource.changed = status, reason, host_now()

    def _add_event(self, status: str, reason: str, about: tuple[str, str, str]) -> None:
        logical_id, physical_id, resource_type = about
        event = {
            "StackId": self.id,
            "StackName": self.name,
            "EventId": str(uuid.uuid4()),
            "OperationId": self.operation.token,
            "Timestamp": self._next_moment(),
            "LogicalResourceId": logical_id,
            "PhysicalResourceId": physical_id,
            "ResourceType": resource_type,
            "ResourceStatus": status,
        }
        self.events.append(event | ({"ResourceStatusReason": reason} if reason else {}))

    def _next_moment(self) -> datetime:
        """Return the time, at least a millisecond after the last event, so that clients keep the order of events."""
        now = host_now()
        return max(now, self.events[-1]["Timestamp"] + timedelta(milliseconds=1)) if self.events else now

    @property
    def busy(self) -> bool:
        """Return whether an operation is running."""
        return self.status.endswith("_IN_PROGRESS") and self.status != "REVIEW_IN_PROGRESS"
