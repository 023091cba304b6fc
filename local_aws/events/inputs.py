"""The input of a rule's target: the event, a part of it, a constant or a filled template."""

import json
import re
from collections.abc import Callable
from typing import Any

from jsonpath_ng.ext import parser

_PLACEHOLDER = re.compile(r"<([\w.-]+)>")
_RESERVED: dict[str, Callable[[dict[str, Any], str], Any]] = {
    "aws.events.event.json": lambda event, _: event,
    "aws.events.event": lambda event, _: {key: value for key, value in event.items() if key != "detail"},
    "aws.events.rule-arn": lambda _, rule_arn: rule_arn,
    "aws.events.rule-name": lambda _, rule_arn: rule_arn.rsplit("/", 1)[-1],
    "aws.events.event.ingestion-time": lambda event, _: event["time"],
}


def input_for(target: dict[str, Any], event: dict[str, Any], rule_arn: str) -> Any:
    """Return the payload of ``target`` for ``event``."""
    if target.get("Input"):
        return json.loads(target["Input"])
    if target.get("InputPath"):
        return _at(target["InputPath"], event)
    transformer = target.get("InputTransformer")
    if transformer:
        return _transformed(transformer, event, rule_arn)
    return event


def _at(path: str, event: dict[str, Any]) -> Any:
    expression: Any = parser.parse(path)
    found = expression.find(event)
    return found[0].value if found else None


def _transformed(transformer: dict[str, Any], event: dict[str, Any], rule_arn: str) -> Any:
    values = {name: _at(path, event) for name, path in (transformer.get("InputPathsMap") or {}).items()}

    def value(name: str) -> Any:
        return _RESERVED[name](event, rule_arn) if name in _RESERVED else values.get(name)

    def fill(part: str) -> str:
        quoted = part.startswith('"')
        return _PLACEHOLDER.sub(lambda found: _written(value(found[1]), quoted), part)

    return json.loads("".join(map(fill, _parts(transformer["InputTemplate"]))))


def _written(value: Any, quoted: bool) -> str:
    """Return ``value`` as JSON, or as plain text inside a string."""
    if not quoted:
        return json.dumps(value)
    if value is None:
        return ""
    return json.dumps(value if isinstance(value, str) else json.dumps(value))[1:-1]


def _parts(template: str) -> list[str]:
    """Return the template's parts: JSON strings with their quotes, and the text between them."""
    return [found[0] for found in re.finditer(r'"(?:[^"\\]|\\.)*"|[^"]+', template)]
