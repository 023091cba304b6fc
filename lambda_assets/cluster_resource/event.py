"""Runs in Lambda. What CloudFormation asks of a custom resource: its event, and our properties in it."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

Json = dict[str, Any]

"""A JSON object as it came or as it goes; what is inside is checked by the service model, not by Python's types."""


CLUSTER = "Custom::HyperPodCluster"
WAIT = "Custom::HyperPodWait"
DELETION = "Custom::HyperPodDeletion"


class Event(NamedTuple):
    """One request of CloudFormation's."""

    request_type: str
    request_id: str
    stack_id: str
    logical_id: str
    resource_type: str
    response_url: str
    physical_id: str
    properties: Json
    old_properties: Json | None

    @classmethod
    def parse(cls, raw: Mapping[str, Any]) -> "Event":
        """The request in ``raw``; fields that only some requests have are empty in the others."""
        return cls(
            request_type=raw["RequestType"],
            request_id=raw["RequestId"],
            stack_id=raw["StackId"],
            logical_id=raw["LogicalResourceId"],
            resource_type=raw.get("ResourceType", CLUSTER),
            response_url=raw["ResponseURL"],
            physical_id=raw.get("PhysicalResourceId") or "",
            properties=dict(raw.get("ResourceProperties") or {}),
            old_properties=_optional(raw.get("OldResourceProperties")),
        )

    @property
    def stack_name(self) -> str:
        """The stack's name, from its ARN (``...:stack/<name>/<uuid>``)."""
        parts = self.stack_id.split("/")
        return parts[1] if len(parts) > 1 else self.stack_id

    @property
    def has_generated_id(self) -> bool:
        """Whether CloudFormation made the physical id up (``<stack>-<logical id>-<random>``), as it never got one from us."""
        return self.physical_id.startswith(f"{self.stack_name}-{self.logical_id}-")

    @property
    def issued(self) -> str:
        """When CloudFormation signed the ResponseURL, as a text that sorts by time; empty when the URL does not tell.

        Request ids have no order, and deliveries overtake each other; the signature's date is the only order an event carries.
        """
        query = parse_qs(urlsplit(self.response_url).query)
        if "X-Amz-Date" in query:
            return query["X-Amz-Date"][0]
        # The older signature tells its end alone; it lies a constant time after its beginning.
        return query["Expires"][0].rjust(16, "0") if "Expires" in query else ""


def is_later(issued: str, other: str) -> bool:
    """Whether an event was issued after another, as far as both say; dates of two kinds of signature do not compare."""
    return bool(issued and other) and ("T" in issued) == ("T" in other) and issued > other


def _optional(properties: Mapping[str, Any] | None) -> Json | None:
    return None if properties is None else dict(properties)


class ClusterProperties(NamedTuple):
    """The properties of Custom::HyperPodCluster, scalars still the strings that CloudFormation makes of them.

    Every PropertiesVersion that was ever released is read here, and one from a newer release as far as its names are known:
    a rollback brings older code before newer properties. "1" is the only one so far, and what has none is read the same way.
    """

    name_prefix: str
    cluster_name: str
    request: Json
    wait: str
    wait_hours: int
    controller_group: str
    zone: str
    adopt: bool
    recreate: bool

    @classmethod
    def of(cls, properties: Mapping[str, Any]) -> "ClusterProperties":
        """The properties in ``properties``."""
        return cls(
            name_prefix=str(properties.get("NamePrefix") or "cluster"),
            cluster_name=str(properties.get("ClusterName") or ""),
            request=dict(properties.get("Request") or {}),
            wait=str(properties.get("Wait") or "nodes"),
            wait_hours=_hours(properties.get("WaitHours")),
            controller_group=str(properties.get("ControllerGroup") or ""),
            zone=str(properties.get("AvailabilityZoneId") or ""),
            adopt=str(properties.get("Adopt")).lower() == "true",
            recreate=str(properties.get("Recreate")).lower() == "true",
        )


def _hours(value: object) -> int:
    """A number of hours; what is none is one hour, as a Delete must not fail of it."""
    text = str(value)
    return int(text) if text.isdecimal() and text.isascii() else 1


CANONICAL_VERSION = 1
"""Of the form that is hashed. A new form gives new names to new clusters; clusters that exist keep theirs."""


MAX_NAME = 63
HASH_LENGTH = 12
NO_DATE = "undated"


def create_only(request: Mapping[str, Any]) -> Json:
    """What CreateCluster fixes for the cluster's life, from its input or from DescribeCluster's output."""
    vpc = request.get("VpcConfig") or {}
    eks = (request.get("Orchestrator") or {}).get("Eks") or {}
    return {
        "EksClusterArn": eks.get("ClusterArn", ""),
        "SecurityGroupIds": sorted(vpc.get("SecurityGroupIds", [])),
        "Subnets": sorted(vpc.get("Subnets", [])),
    }


def cluster_name(event: Event, properties: Mapping[str, Any]) -> str:
    """The name that ``properties`` give the cluster: the configured one, or the prefix and a hash."""
    cluster = ClusterProperties.of(properties)
    if cluster.cluster_name:
        return cluster.cluster_name
    form = [CANONICAL_VERSION, event.stack_id, event.logical_id, create_only(cluster.request)]
    digest = _digest(json.dumps(form, sort_keys=True, separators=(",", ":")), HASH_LENGTH)
    prefix = cluster.name_prefix[: MAX_NAME - HASH_LENGTH - 1].rstrip("-")
    return f"{prefix}-{digest}"


def physical_id(event: Event) -> str:
    """The PhysicalResourceId to answer with where nothing else was decided: the event's own, or the one a Create makes."""
    if event.physical_id:
        return event.physical_id
    if event.resource_type == CLUSTER:
        return cluster_name(event, event.properties)
    return event.logical_id


def resource_hash(event: Event) -> str:
    """What all executions for one resource have in common at the start of their names."""
    return _digest(f"{event.stack_id}|{event.logical_id}", 24)


def execution_name(event: Event) -> str:
    """Return the name of the one execution that serves this request, however often it is delivered.

    The date in it lets a list of executions show which request is newer (``executions.Execution.issued``).
    """
    return f"{resource_hash(event)}-{event.issued or NO_DATE}-{_digest(event.request_id, 24)}"


def _digest(text: str, length: int) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:length]


TAG_PREFIX = "hyperpod-cdk:"
STACK_ID_TAG = TAG_PREFIX + "stack-id"
LOGICAL_ID_TAG = TAG_PREFIX + "logical-id"
VERSION_TAG = TAG_PREFIX + "version"
CURRENT_VERSION = "1"
CLUSTER_TAG = TAG_PREFIX + "cluster"
"""Below our prefix, but an ordinary tag of the stack's: it tells people the cluster file, and decides nothing."""


class Owner(NamedTuple):
    """The resource of a stack that a cluster belongs to."""

    stack_id: str
    logical_id: str

    @property
    def tags(self) -> dict[str, str]:
        """The tags that say so."""
        return {STACK_ID_TAG: self.stack_id, LOGICAL_ID_TAG: self.logical_id, VERSION_TAG: CURRENT_VERSION}

    def __str__(self) -> str:
        """The owner in an error's words."""
        return f"resource {self.logical_id} of stack {self.stack_id}"


def owner_of(tags: Mapping[str, str]) -> Owner | None:
    """The owner that ``tags`` name, if they name one."""
    if STACK_ID_TAG in tags and LOGICAL_ID_TAG in tags:
        return Owner(tags[STACK_ID_TAG], tags[LOGICAL_ID_TAG])
    return None


def is_reserved(key: str) -> bool:
    """Whether a tag is no user's: AWS's own, or one that says whose the cluster is."""
    return key.startswith("aws:") or (key.startswith(TAG_PREFIX) and key != CLUSTER_TAG)
