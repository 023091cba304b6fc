"""The interface of a resource type, and its context."""

import json
import random
import string
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event
from typing import Any, ClassVar, TypeVar

from botocore.exceptions import ClientError

from local_aws.clock import clock
from local_aws.cloudformation import clients
from local_aws.cloudformation.errors import CancelledError, ResourceError
from local_aws.cloudformation.schemas import schema
from local_aws.cloudformation.template import Json

LEAST_PAUSE_S = 0.05  # host seconds, so that a fast clock does not turn waiting into a busy loop
Found = TypeVar("Found")


@dataclass
class Context:
    """The stack and resource that a provider works on, and helpers."""

    account: str
    region: str
    stack_id: str
    stack_name: str
    logical_id: str
    type: str
    halt: Event
    identify: Callable[[str], None]  # sets the physical id before the resource is ready
    data: Json = field(default_factory=dict)

    def client(self, service: str) -> Any:
        """Return a boto3 client for the stack's region."""
        return clients.client(service, self.region)

    def arn(self, service: str, rest: str) -> str:
        """Return an ARN in the stack's account and region."""
        return f"arn:aws:{service}:{self.region}:{self.account}:{rest}"

    def unique_name(self, limit: int = 64) -> str:
        """Return a name in the form that CloudFormation generates, at most ``limit`` characters long."""
        suffix = "".join(random.choices(string.ascii_letters + string.digits, k=12))  # noqa: S311  a name, not a secret
        return f"{self.stack_name}-{self.logical_id}"[: limit - 13] + f"-{suffix}"

    def tags(self, properties: Json) -> list[dict[str, str]]:
        """Return the tags of a resource: its own, the stack's (already among its properties) and CloudFormation's."""
        own = properties.get("Tags") or []
        listed = [{"Key": str(key), "Value": str(value)} for key, value in own.items()] if isinstance(own, dict) else list(own)
        described = schema(self.type, self.region)
        if described is None or not described.takes_system_tags:
            return listed
        values = {"stack-id": self.stack_id, "stack-name": self.stack_name, "logical-id": self.logical_id}
        return listed + [{"Key": f"aws:cloudformation:{key}", "Value": value} for key, value in values.items()]

    def until(
        self, poll: Callable[[], Found | None], *, timeout_s: float = 3600, every_s: float = 5, programs_s: float = 0
    ) -> Found:
        """Call ``poll`` until it returns a value other than None, and return that value.

        ``programs_s``: how long real programs may need at least on this machine, whose clock the simulated one outruns.
        """
        deadline, of_programs = clock.seconds() + timeout_s, time.monotonic() + programs_s
        while (found := poll()) is None:
            if clock.seconds() > deadline and time.monotonic() > of_programs:
                raise ResourceError(f"Exceeded attempts to wait: {self.type} did not settle within {timeout_s:.0f} s")
            if self.halt.wait(max(clock.host_seconds(every_s), LEAST_PAUSE_S)):
                raise CancelledError
        return found


class Provider(ABC):
    """Creates, updates and deletes the resources of one type."""

    type: ClassVar[str]
    # Implemented property paths, each including everything below it; and properties without effect, each with the reason.
    acts_on: ClassVar[tuple[str, ...]] = ()
    without_effect: ClassVar[Mapping[str, str]] = {}

    @abstractmethod
    def create(self, context: Context, properties: Json) -> str:
        """Create the resource and return its physical id."""

    def settle(self, context: Context, physical_id: str, properties: Json) -> None:  # noqa: B027  most types are ready at once
        """Wait until the resource is ready."""

    def attributes(self, context: Context, physical_id: str, properties: Json) -> Json:
        """Return the attributes for Fn::GetAtt."""
        return {}

    def check_update(self, properties: Json, before: Json) -> None:  # noqa: B027  most types have nothing to refuse
        """Refuse an update before the service is called."""

    def update(self, context: Context, physical_id: str, properties: Json, before: Json) -> str | None:
        """Change the resource in place; return a new physical id if the service gave one."""
        changed = sorted(key for key in {*properties, *before} if properties.get(key) != before.get(key))
        raise ResourceError(f"not part of the embedded AWS: an update in place of {self.type} {', '.join(changed)}")

    @abstractmethod
    def delete(self, context: Context, physical_id: str, properties: Json) -> None:
        """Delete the resource; no error if it is already gone."""


@contextmanager
def tolerate(*codes: str) -> Iterator[None]:
    """Ignore an error with one of these codes, or with a code that ends in one of them."""
    try:
        yield
    except ClientError as error:
        code = error.response["Error"]["Code"]
        if not any(code == one or code.endswith(f".{one}") for one in codes):
            raise


def pick(properties: Json, *names: str) -> Json:
    """Return the named properties that are present, as arguments of a call."""
    return {name: properties[name] for name in names if name in properties}


def document(value: object) -> str:
    """Return a policy or a pattern as text."""
    return value if isinstance(value, str) else json.dumps(value)


def changed(properties: Json, before: Json, *names: str) -> bool:
    """Return whether one of the named properties changed."""
    return any(properties.get(name) != before.get(name) for name in names)


def retag(client: Any, properties: Json, before: Json, form: Callable[[Any], Any] = list, **resource: str) -> None:
    """Set and remove the changed tags of a resource by a service whose calls have tags in a ``form`` of their own."""
    added, removed = tag_changes(properties, before)
    keys, tags = ("TagKeys", "Tags") if next(iter(resource))[0].isupper() else ("tagKeys", "tags")
    if removed:
        client.untag_resource(**resource, **{keys: removed})
    if added:
        client.tag_resource(**resource, **{tags: form(added)})


def as_map(tags: Any) -> dict[str, str]:
    """Return tags, which some types have as a list, as a mapping."""
    if isinstance(tags, dict):
        return {str(key): str(value) for key, value in tags.items()}
    return {tag["Key"]: str(tag["Value"]) for tag in tags or ()}


def tag_changes(properties: Json, before: Json) -> tuple[list[dict[str, str]], list[str]]:
    """Return the tags to set and the keys to remove."""
    new, old = as_map(properties.get("Tags")), as_map(before.get("Tags"))
    added = [{"Key": key, "Value": value} for key, value in new.items() if old.get(key) != value]
    return added, [key for key in old if key not in new]
