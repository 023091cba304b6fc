"""Replaces what identifies an account, a network or a person by placeholders: the same value, the same placeholder."""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tests.verify_aws.resource_code import SECRETS

_WORD = r"[^\s\"',;<>\\]+"
_HEX = r"[0-9a-f]{8,17}"
_RESOURCES = {
    "i": "instance",
    "eni": "interface",
    "subnet": "subnet",
    "vpc": "vpc",
    "sg": "security-group",
    "rtb": "route-table",
    "igw": "internet-gateway",
    "nat": "nat-gateway",
    "eipalloc": "address-allocation",
    "vpce": "endpoint",
    "vol": "volume",
    "snap": "snapshot",
    "ami": "image",
    "fs": "file-system",
    "mi": "managed-instance",
}
_OCTET = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)"
_LINK_LOCAL = ("169.254.0.2", "169.254.169.123", "169.254.169.253", "169.254.169.254")
_PUBLIC = ("0.0.0.0", "127.0.0.1", "127.0.0.53", *_LINK_LOCAL, "255.255.255.255")
# In this order: what comes first may contain what follows.
PATTERNS: tuple[tuple[str, str], ...] = (
    ("private-key", r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?-----END [A-Z ]*PRIVATE KEY-----"),
    ("public-key", r"\b(?:ssh-(?:rsa|ed25519|dss)|ecdsa-sha2-\S+) AAAA[0-9A-Za-z+/=]+"),
    ("access-key", r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    ("principal-id", rf"\b(?:AROA|AIDA|AGPA|ANPA|ASCA)[A-Z0-9]{{16,18}}\b(?::{_WORD})?"),
    ("role", rf"\b(?:assumed-role/|AWSReservedSSO_){_WORD}"),
    ("e-mail", r"\b[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+\b"),
    *((kind, rf"\b{prefix}-{_HEX}\b") for prefix, kind in _RESOURCES.items()),
    ("resource", r"\b[a-z]+-[0-9a-f]{17}\b"),
    ("uuid", r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"),
    ("account", r"(?<![0-9A-Za-z])[0-9]{12}(?![0-9A-Za-z])"),
    ("mac", r"\b(?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}\b"),
    ("address", rf"(?<![\d.]){_OCTET}(?:\.{_OCTET}){{3}}(?![\d.]*\d)"),
    ("address", r"(?<![0-9A-Za-z:])(?:fe80|fc|fd[0-9a-f]{2}|2[0-9a-f]{3})(?::[0-9a-f]{0,4}){2,7}(?![0-9A-Za-z:])"),
)
ARN = rf"\barn:aws[a-z-]*:[a-z0-9-]+:[a-z0-9-]*:[0-9]*:{_WORD}"
BUCKET = r"(?<=s3://)[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]"
SECRET_NAME = r"(?i)password|passwd|secret|token(?!s)|storagepass"
_OCTETS = rf"(?:{_OCTET}|\[[\d,-]+\])"  # Slurm lists hosts as ip-10-1-4-[7,9-12]
HOST = rf"\bip-({_OCTETS}(?:-{_OCTETS}){{3}})(?!\d)"


class Redactor:
    """Replaces values by placeholders such as ``<instance-1>``, numbered in the order in which they are seen."""

    def __init__(self) -> None:
        self._known: dict[str, dict[str, str]] = {}
        self._literals: dict[str, str] = {}

    def literal(self, value: str, kind: str) -> None:
        """Replace every occurrence of this text from now on."""
        if value:
            self._literals[value] = self._placeholder(kind, value)

    def __call__(self, text: str) -> str:
        """Return ``text`` without secrets and identities."""
        for pattern, instead in SECRETS:
            text = re.sub(pattern, instead, text)
        text = re.sub(ARN, lambda found: self._placeholder(_arn_kind(found[0]), found[0]), text)
        text = re.sub(BUCKET, self._replacement("bucket"), text)
        for value in sorted(self._literals, key=len, reverse=True):
            text = text.replace(value, self._literals[value])
        text = re.sub(HOST, lambda found: f"ip-{self._placeholder('address', found[1].replace('-', '.'))}", text)
        for kind, pattern in PATTERNS:
            text = re.sub(pattern, self._replacement(kind), text, flags=re.DOTALL)
        return text

    def json(self, value: Any) -> Any:
        """Return a JSON value redacted: names of members tell which values are secrets."""
        match value:
            case dict():
                return {self(key): "***" if _is_secret(key, item) else self.json(item) for key, item in value.items()}
            case list():
                return [self.json(item) for item in value]
            case str():
                return self(value)
        return value

    def _replacement(self, kind: str) -> Callable[[re.Match[str]], str]:
        def replace(found: re.Match[str]) -> str:
            return found[0] if found[0] in _PUBLIC else self._placeholder(kind, found[0])

        return replace

    def _placeholder(self, kind: str, value: str) -> str:
        known = self._known.setdefault(kind, {})
        return known.setdefault(value, f"<{kind}-{len(known) + 1}>")


PLACEHOLDER = re.compile(r"<([a-z][a-z-]*(?::[a-z0-9-]+)*)-\d+>")


def without_numbers(text: str) -> str:
    """Return ``text`` with placeholders of one kind made equal, to compare two runs."""
    return PLACEHOLDER.sub(r"<\1>", text)


def identities(texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield what ``texts`` still hold of each kind; nothing after a redaction."""
    for text in texts:
        for kind, pattern in (*PATTERNS, ("arn", ARN), ("bucket", BUCKET), ("host", HOST)):
            yield from ((kind, found) for found in re.findall(pattern, text, flags=re.DOTALL) if found not in _PUBLIC)


def _is_secret(name: str, value: Any) -> bool:
    return isinstance(value, str) and bool(re.search(SECRET_NAME, name)) and not value.startswith("arn:")


def _arn_kind(arn: str) -> str:
    """Return ``arn:SERVICE:TYPE``; an ARN of S3 has no type."""
    _, _, service, _, _, resource = arn.split(":", 5)
    type_name = re.match(r"([a-z-]+)[/:]", resource)
    return f"arn:{service}:{type_name[1]}" if type_name and service != "s3" else f"arn:{service}"
