"""`./hpod scale CLUSTER GROUP N`: change a group's `instance_count` in the cluster file."""

import difflib
from pathlib import Path
from typing import Any

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from cli.cluster_files import cluster_path
from cli.cluster_folder import cdk_command
from cli.errors import CommandError
from cli.result import Result, Verbatim
from config.errors import ConfigError
from config.suggestions import nearest
from validation.checked_file import check_source
from validation.load import check_clusters
from validation.yaml.reader import read_yaml

FIELD = "instance_count"


def scale(*, clusters: Path, cluster: str, group: str, count: int, dry_run: bool = False) -> Result:
    """Set the count, unless the new file has errors, and return the difference."""
    path = cluster_path(cluster, clusters)
    if not path.exists():
        check_clusters(path.parent, path.stem)  # raises an error with the names of the others
    return scaled(path, group, count, dry_run=dry_run)


def scaled(path: Path, group: str, count: int, *, dry_run: bool = False) -> Result:
    """Set the count in this file."""
    text = _read(path)
    if unreadable := read_yaml(text.encode()).problems:
        raise ConfigError({str(path): unreadable})
    edited, before = with_count(text, group, count)
    checked = check_source(edited.encode(), path.stem, path.parent, str(path))
    if checked.errors:
        raise ConfigError({str(path): checked.errors})
    diff = "\n".join(difflib.unified_diff(text.splitlines(), edited.splitlines(), str(path), str(path), n=2, lineterm=""))
    changed = edited != text
    if changed and not dry_run:
        _write(path, edited)
    data = {
        "file": str(path),
        "group": group,
        "before": before,
        "after": count,
        "diff": diff,
        "written": changed and not dry_run,
    }
    text_blocks = (Verbatim(diff), *_warning(before, count), _next_step(path, dry_run=dry_run))
    return Result(data, text_blocks if changed else (f"{path}: group {group} already has instance_count {count}",))


def _warning(before: object, count: int) -> tuple[str, ...]:
    """Return what a smaller count does to jobs."""
    if not isinstance(before, int) or count >= before:
        return ()
    return ("HyperPod chooses the nodes to delete, and their jobs end; `./hpod delete --scale` deletes nodes that you name",)


def _next_step(path: Path, *, dry_run: bool) -> str:
    first = f"{path} is unchanged; run the command without --dry-run, then:" if dry_run else f"wrote {path}; to apply it:"
    commands = (cdk_command(verb, path.stem, path.parent) for verb in ("diff", "deploy"))
    return "\n".join((first, *(f"  {command}" for command in commands)))


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode()
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"cannot read {path}: {error}", "check its permissions and that it is UTF-8") from error


def _write(path: Path, text: str) -> None:
    try:
        path.write_bytes(text.encode())
    except OSError as error:
        raise CommandError(f"cannot write {path}: {error.strerror or error}", "check its permissions") from error


def with_count(text: str, group: str, count: int) -> tuple[str, object]:
    """Return the text with the group's new count, and the former count; raise a CommandError if anything else would change."""
    content = read_yaml(text.encode()).content
    index = _index(content, group)
    edited = _replaced(text, index, count)
    if read_yaml(edited.encode()).content != _expected(content, index, count):
        field = f"instance_groups[{index}].{FIELD}"
        raise CommandError(f"{field}: an anchor or alias shares its lines with other fields", f"set it to {count} by hand")
    return edited, _groups(content)[index].get(FIELD)


def _index(content: object, group: str) -> int:
    """Return the position of the only group with this name."""
    names = [each.get("name") if isinstance(each, dict) else None for each in _groups(content)]
    if names.count(group) > 1:
        raise CommandError(f"instance_groups: duplicate group {group!r}", "rename one of them")
    if group not in names:
        known = [str(name) for name in names if name]
        raise CommandError(f"unknown group {group!r}", f"available: {', '.join(known)}; {nearest(group, known)}")
    return names.index(group)


def _groups(content: object) -> list[Any]:
    groups = content.get("instance_groups") if isinstance(content, dict) else None
    if not isinstance(groups, list) or not groups:
        raise CommandError("instance_groups: missing", "add a list of groups")
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
