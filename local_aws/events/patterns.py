"""Event patterns: invalid ones are refused, and TestEventPattern is answered, where moto accepts any and answers nothing.

https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-create-pattern-operators.html
"""

import ipaddress
import itertools
import json
from collections.abc import Callable, Iterator
from typing import Any

from moto.events.exceptions import InvalidEventPatternException
from moto.events.models import EventPattern, EventPatternParser
from moto.events.responses import EventsHandler

from local_aws.errors import AwsError

_validate_pattern = EventPatternParser._validate_event_pattern
_matches_event = EventPattern.matches_event
_COMPARISONS = ("=", "<", "<=", ">", ">=")
_NESTED = ("prefix", "suffix", "equals-ignore-case", "wildcard")


def _validate(self: Any, pattern: Any) -> None:
    """Refuse a pattern with an unknown or malformed filter; in moto an unknown one matches everything."""
    if not isinstance(pattern, dict):
        raise InvalidEventPatternException(reason="Filter is not an object")
    _validate_pattern(self, {name: value for name, value in pattern.items() if name != "$or"})
    for value in pattern.values():
        for each in value if isinstance(value, list) else []:
            if isinstance(each, dict) and value is not pattern.get("$or"):
                _require_filter(each)
    for each in pattern.get("$or", ()):
        self._validate_event_pattern(each)


def _require_filter(filter_: dict[str, Any]) -> None:
    name = next(iter(filter_), "")
    if name not in _VALUES:
        raise InvalidEventPatternException(reason=f"Unrecognized match type {name}")
    if len(filter_) > 1 or not _VALUES[name](filter_[name]):
        raise InvalidEventPatternException(reason=f"Malformed value of {name}")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_affix(value: Any) -> bool:
    return _is_text(value) or (
        isinstance(value, dict) and list(value) == ["equals-ignore-case"] and all(map(_is_text, value.values()))
    )


def _is_comparison(value: Any) -> bool:
    if not isinstance(value, list) or len(value) not in (2, 4):
        return False
    return all(operator in _COMPARISONS for operator in value[::2]) and all(map(_is_number, value[1::2]))


def _is_network(value: Any) -> bool:
    try:
        return _is_text(value) and "/" in value and bool(ipaddress.ip_network(value, strict=False))
    except ValueError:
        return False


def _is_exclusion(value: Any) -> bool:
    if isinstance(value, dict):
        [(name, given)] = value.items() if len(value) == 1 else [("", None)]
        texts = given if isinstance(given, list) else [given]
        return name in _NESTED and bool(texts) and all(_is_text(text) and text for text in texts)
    given = value if isinstance(value, list) else [value]
    return bool(given) and (all(map(_is_text, given)) or all(map(_is_number, given)))


_VALUES: dict[str, Callable[[Any], bool]] = {
    "exists": lambda value: isinstance(value, bool),
    "prefix": _is_affix,
    "suffix": _is_affix,
    "equals-ignore-case": _is_text,
    "wildcard": _is_text,
    "numeric": _is_comparison,
    "cidr": _is_network,
    "anything-but": _is_exclusion,
}


def _matches(self: Any, event: Any) -> bool:
    """Match each choice of one object per list of objects; moto does not look into lists."""
    return any(_matches_event(self, choice) for choice in _choices(event))


def _choices(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        members = {name: item for name, item in value.items() if item != []}  # an empty list does not exist
        for items in itertools.product(*map(list, map(_choices, members.values()))):
            yield dict(zip(members, items, strict=True))
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        for item in value:
            yield from _choices(item)
    else:
        yield value


def _test(self: Any) -> str:
    """Return TestEventPattern's response."""
    pattern = EventPattern.load(self._get_param("EventPattern"))
    try:
        event = json.loads(self._get_param("Event"))
    except ValueError as error:
        raise AwsError("ValidationException", "Parameter Event is not valid. Reason: Invalid JSON") from error
    return json.dumps({"Result": pattern.matches_event(event)})


def install() -> None:
    """Replace moto's methods."""
    EventPatternParser._validate_event_pattern = _validate
    EventPattern.matches_event = _matches
    EventsHandler.test_event_pattern = _test
