"""Change a group's `instance_count` in the text of a cluster file, and nothing else."""

from dataclasses import dataclass
from typing import Any

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from cli.errors import CommandError
from config.suggestions import nearest
from validation.yaml.reader import read_yaml

FIELD = "instance_count"


@dataclass(frozen=True)
class CountEdit:
    """The text with the new count, and the count that it replaces; None if the field was missing."""

    text: str
    before: object


def with_count(text: str, group: str, count: int) -> CountEdit:
    """Return the text with the group's new count; raise an CommandError if that would change anything else."""
    content = read_yaml(text.encode()).content
    index = _index(content, group)
    edited = _replaced(text, index, count)
    if read_yaml(edited.encode()).content != _expected(content, index, count):
        field = f"instance_groups[{index}].{FIELD}"
        raise CommandError(f"{field}: an anchor or alias shares its lines with other fields; set it to {count} by hand")
    return CountEdit(edited, _groups(content)[index].get(FIELD))


def _index(content: object, group: str) -> int:
    """Return the position of the only group with this name."""
    names = [each.get("name") if isinstance(each, dict) else None for each in _groups(content)]
    if names.count(group) > 1:
        raise CommandError(f"instance_groups: duplicate group {group!r}; rename one of them")
    if group not in names:
        known = [str(name) for name in names if name]
        raise CommandError(f"unknown group {group!r}; available: {', '.join(known)}; {nearest(group, known)}")
    return names.index(group)


def _groups(content: object) -> list[Any]:
    groups = content.get("instance_groups") if isinstance(content, dict) else None
    if not isinstance(groups, list) or not groups:
        raise CommandError("instance_groups: missing; add a list of groups")
    return groups


def _expected(content: Any, index: int, count: int) -> Any:
    groups = [{**group, FIELD: count} if at == index else group for at, group in enumerate(_groups(content))]
    return {**content, "instance_groups": groups}


def _replaced(text: str, index: int, count: int) -> str:
    """Return the text with the count in the lines of the group's mapping."""
    entry = _value(_value(yaml.compose(text, Loader=yaml.SafeLoader), "instance_groups"), index)
    value = _value(entry, FIELD)
    if isinstance(value, ScalarNode):
        start, end = value.start_mark.index, value.end_mark.index
        return text[:start] + str(count) + text[end:]
    return _inserted(text, entry, count)


def _inserted(text: str, entry: Node | None, count: int) -> str:
    """Return the text with the field behind the group's name."""
    if not isinstance(entry, MappingNode):
        return text
    key, name = next((key, value) for key, value in entry.value if key.value == "name")
    end = name.end_mark.index
    if entry.flow_style:
        return f"{text[:end]}, {FIELD}: {count}{text[end:]}"
    newline = "\r\n" if "\r\n" in text else "\n"
    line = f"{' ' * int(key.start_mark.column)}{FIELD}: {count}"
    comment, end_of_line, below = text[end:].partition("\n")
    return f"{text[:end]}{comment}{end_of_line or newline}{line}{newline if end_of_line else ''}{below}"


def _value(node: Node | None, key: str | int) -> Node | None:
    """Return the node of a field or a list entry, or None."""
    if isinstance(node, SequenceNode) and isinstance(key, int):
        return node.value[key] if key < len(node.value) else None
    if isinstance(node, MappingNode):
        return next((value for name, value in node.value if name.value == key), None)
    return None
