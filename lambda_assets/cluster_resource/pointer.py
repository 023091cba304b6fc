"""Read and write the pointer for running nodes (docs/adr/0010-pointer.md); lifecycle_assets/hyperpod_node/follow reads it."""

import hashlib
import json
import zlib
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from cluster_resource.event import Json

VERSION = 1
MAX_GENERATION = 2**53
"""Nodes refuse a higher one."""
AHEAD_S = 24 * 3600
"""How far a generation, which is a time, may be ahead of the clock, as for nodes."""

CONTROLLER, LOGIN, COMPUTE = "controller", "login", "compute"
ROLES = (CONTROLLER, LOGIN)
"""The roles that a pointer names; compute nodes follow by percentage."""


class Bundle(NamedTuple):
    """One upload of scripts."""

    bucket: str
    prefix: str
    sha256: str

    @classmethod
    def of(cls, properties: Mapping[str, Any]) -> "Bundle":
        """Return the bundle in the properties of Custom::HyperPodRollout; properties of another release may lack it."""
        try:
            parameters = _digest(json.dumps(json.loads(properties["Parameters"]), sort_keys=True, separators=(",", ":")))
            sha256 = _digest(f"{properties['Fingerprint']}\n{parameters}")
            return cls(str(properties["Bucket"]), str(properties["Prefix"]), sha256)
        except (KeyError, TypeError, ValueError, RecursionError):
            return cls("", "", "")


class Reach(NamedTuple):
    """The nodes that a pointer reaches."""

    roles: tuple[str, ...] = ROLES
    compute_percent: int = 100
    instances: tuple[str, ...] = ()

    def includes(self, role: str, instance: str) -> bool:
        """Return whether the node follows."""
        is_chosen = instance in self.instances or role in self.roles
        return is_chosen or (role == COMPUTE and share(instance) < self.compute_percent)


FULL = Reach()


class Pointer(NamedTuple):
    """The value of the parameter."""

    generation: int
    bundle: Bundle
    reach: Reach

    def is_ahead(self, now: datetime) -> bool:
        """Return whether no rollout can have written the generation by now."""
        return self.generation > now.timestamp() + AHEAD_S

    @property
    def text(self) -> str:
        """Return the value as compact JSON."""
        value: Json = {"version": VERSION, "generation": self.generation, **self.bundle._asdict(), "reach": self.reach._asdict()}
        return json.dumps(value, separators=(",", ":"))

    @classmethod
    def parse(cls, text: str) -> "Pointer | None":
        """Return the pointer in ``text``, or nothing if it is malformed: another principal wrote it."""
        try:
            value = json.loads(text)
            bundle = Bundle(*(str(value[name]) for name in Bundle._fields))
            found = value["reach"]
            instances = tuple(map(str, found.get("instances", ())))
            reach = Reach(tuple(map(str, found["roles"])), int(found["compute_percent"]), instances)
            generation = int(value["generation"])
            is_known = value["version"] == VERSION and 0 < generation < MAX_GENERATION
            return cls(generation, bundle, reach) if is_known else None
        except (AttributeError, KeyError, TypeError, ValueError, OverflowError, RecursionError):
            return None


def share(instance: str) -> int:
    """Return the percentage above which a pointer reaches a compute node."""
    return zlib.crc32(instance.encode()) % 100


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
