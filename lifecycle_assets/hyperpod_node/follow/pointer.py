"""The pointer to the cluster's bundle: an SSM parameter that only the deployment writes."""

from __future__ import annotations

import json
import re
import zlib
from dataclasses import dataclass, field
from typing import Any

from hyperpod_node.errors import NodeError
from hyperpod_node.follow import rsa
from hyperpod_node.provisioning_parameters import COMPUTE

VERSION = 1
SIGNATURE = ("signature", "public_key")
_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_PREFIX = re.compile(r"lifecycle(/[A-Za-z0-9_=-][A-Za-z0-9_.=-]*)+")
_BASE64 = re.compile(r"[A-Za-z0-9+/=]{0,1000}")
_SHA256 = re.compile(r"[0-9a-f]{64}")


class PointerError(NodeError):
    """This node refuses the pointer."""


@dataclass(frozen=True)
class Pointer:
    """A bundle, and the nodes that it has reached."""

    generation: int
    bucket: str
    prefix: str
    sha256: str
    roles: tuple[str, ...]
    compute_percent: int
    instances: tuple[str, ...] = ()
    signature: str = ""
    public_key: str = ""
    signed: str = field(default="", compare=False, repr=False)

    @classmethod
    def parse(cls, text: str) -> Pointer:
        """Return the pointer in the parameter's value."""
        try:
            content = json.loads(text)
        except (ValueError, RecursionError):
            raise PointerError("the bundle parameter is not JSON") from None
        if not isinstance(content, dict):
            raise PointerError("the bundle parameter is not a JSON object")
        if content.get("version") != VERSION:
            raise PointerError(
                f"the bundle parameter has version {content.get('version')!r}; this agent supports version {VERSION}"
            )
        reach = content.get("reach")
        reach = reach if isinstance(reach, dict) else {}
        pointer = cls(
            _natural(content, "generation", 2**53),
            _matching(content, "bucket", _BUCKET),
            _matching(content, "prefix", _PREFIX),
            _matching(content, "sha256", _SHA256),
            _texts(reach, "roles"),
            _natural(reach, "compute_percent", 100),
            _texts({"instances": [], **reach}, "instances"),
            _matching({"signature": "", **content}, "signature", _BASE64),
            _matching({"public_key": "", **content}, "public_key", _BASE64),
            json.dumps({name: value for name, value in content.items() if name not in SIGNATURE}, sort_keys=True),
        )
        if pointer.generation < 1:
            raise PointerError("the bundle parameter's rollout number is 0; the first is 1")
        return pointer

    def is_signed(self, parameter: str, public_key: str) -> bool:
        """Return whether the owner of the key wrote all this to the parameter, as ``ClusterApi.signed`` does."""
        return rsa.is_signed(f"{parameter}\n{self.signed}".encode(), self.signature, public_key)

    def reaches(self, role: str, instance_id: str) -> bool:
        """Return whether the node follows the pointer already; compute nodes come in the order of a checksum of their id."""
        if instance_id in self.instances:
            return True
        if role == COMPUTE:
            return zlib.crc32(instance_id.encode()) % 100 < self.compute_percent
        return role in self.roles


def _natural(content: dict[str, Any], key: str, most: int) -> int:
    value = content.get(key)
    if type(value) is not int or not 0 <= value <= most:
        name = key.replace("generation", "rollout number")
        raise PointerError(f"the bundle parameter's {name} is {value!r}, not a number from 0 to {most}")
    return value


def _matching(content: dict[str, Any], key: str, pattern: re.Pattern[str]) -> str:
    value = content.get(key)
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise PointerError(f"the bundle parameter's {key} is {value!r}, which does not match {pattern.pattern}")
    return value


def _texts(content: dict[str, Any], key: str) -> tuple[str, ...]:
    value = content.get(key)
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise PointerError(f"the bundle parameter's {key} are {value!r}, not a list of texts")
    return tuple(value)
