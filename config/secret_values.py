"""Hide secret values, as output ends up in logs."""

import re
from collections.abc import Iterable, Mapping

HIDDEN = "..."

_SECRET = re.compile(r"(pass(word|wd|phrase|code)?s?|secrets?|tokens?|credentials?|(api|access|private|secret)key)$")
_ASSIGNED = re.compile(r"(?i)((?:password|passwd|secret|token)\s*=\s*)\S+")


def is_secret(path: Iterable[object]) -> bool:
    """Return whether the path names a secret (`password`, but not `secret_arn`)."""
    words = (re.sub("[^a-z0-9]", "", part.lower()) for part in path if isinstance(part, str))
    return any(_SECRET.search(word) for word in words)


def _replaces_secret_arn(value: object, path: Iterable[object]) -> bool:
    """Return whether the value may be a secret in place of a secret's ARN."""
    *_, last = ("", *path)
    return re.sub("[^a-z]", "", str(last).lower()) == "secretarn" and isinstance(value, str) and not value.startswith("arn:")


def without_secrets(value: object, path: Iterable[object] = ()) -> object:
    """Return the value with secrets replaced by three dots."""
    if is_secret(path) or _replaces_secret_arn(value, path):
        return HIDDEN
    match value:
        case {"Key": str() as name, "Value": _, **others} if is_secret((name,)):  # a tag as the API writes it
            return {"Key": name, "Value": HIDDEN, **others}
        case Mapping():
            return {key: without_secrets(each, (key,)) for key, each in value.items()}
        case list() | tuple():
            return [without_secrets(each) for each in value]
        case str():
            return _ASSIGNED.sub(rf"\1{HIDDEN}", value)
    return value
