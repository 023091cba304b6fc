"""Event patterns: invalid ones are refused, and TestEventPattern is answered, where moto accepts any and answers nothing.

https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-create-pattern-operators.html
"""

import itertools
import json
from collections.abc import Iterator
from typing import Any

import jsonschema
from moto.events.exceptions import InvalidEventPatternException
from moto.events.models import EventPattern, EventPatternParser
from moto.events.responses import EventsHandler

from local_aws.errors import AwsError

_matches_event = EventPattern.matches_event
_TEXT = {"type": "string"}
_AFFIX = {"type": ["string", "object"], "propertyNames": {"const": "equals-ignore-case"}, "minProperties": 1}
_COMPARISON = [{"enum": ["=", "<", "<=", ">", ">="]}, {"type": "number"}]
_VALUES = {
    "exists": {"type": "boolean"},
    "prefix": _AFFIX,
    "suffix": _AFFIX,
    "equals-ignore-case": _TEXT,
    "wildcard": _TEXT,
    "numeric": {"type": "array", "prefixItems": _COMPARISON * 2, "oneOf": [{"minItems": n, "maxItems": n} for n in (2, 4)]},
    "cidr": _TEXT | {"pattern": r"^[\da-fA-F.:]+/\d+$"},
    "anything-but": {"type": ["string", "number", "array", "object"], "minItems": 1, "minProperties": 1},
}
_FILTER = {"propertyNames": {"enum": [*_VALUES]}, "properties": _VALUES, "minProperties": 1, "maxProperties": 1}
_FILTERS = {"if": {"type": "array"}, "then": {"minItems": 1, "items": _FILTER}, "else": {"$ref": "#"}}
_CHOICES = {"$or": {"type": "array", "items": {"$ref": "#"}}}
_validator = jsonschema.Draft202012Validator({"type": "object", "properties": _CHOICES, "additionalProperties": _FILTERS})


def _validate(_: Any, pattern: Any) -> None:
    """Refuse a pattern with an unknown or malformed filter; in moto an unknown one matches everything."""
    for error in _validator.iter_errors(pattern):
        is_unknown = error.validator == "enum"
        raise InvalidEventPatternException(reason=f"Unrecognized match type {error.instance}" if is_unknown else error.message)


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
