"""Cluster files with comments above their sections; text that YAML would read as another type is quoted."""

import os
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import yaml

from validation.schema import FILE
from validation.yaml.reader import read_yaml

WIDTH = 120


@dataclass(frozen=True)
class Part:
    """One or more of the file's sections, and the comments above them."""

    sections: dict[str, object]
    comments: tuple[str, ...] = ()


class Dumper(yaml.SafeDumper):
    """Indents lists below their keys, as in the shipped files, writes no aliases, and quotes text that YAML would misread."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        """Indent lists, too."""
        del indentless
        super().increase_indent(flow, indentless=False)

    def ignore_aliases(self, data: object) -> bool:
        """Repeat equal parts."""
        del data
        return True


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    """Return the text unquoted if the reader of cluster files would read the same text: it is stricter than YAML 1.1."""
    plain = value.isascii() and value.isprintable() and read_yaml(value.encode()).content == value
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=None if plain else '"')


Dumper.add_representer(str, _text)


def schema_note(folder: Path) -> tuple[str, ...]:
    """Return the comment by which editors find the schema, for a file in ``folder``; empty outside the project."""
    project, place = FILE.parents[1], folder.resolve()
    if not place.is_relative_to(project):
        return ()
    return (f"yaml-language-server: $schema={Path(os.path.relpath(FILE, place)).as_posix()}",)


def written(parts: Iterable[Part]) -> str:
    """Return the text of the file."""
    return "\n".join(text for part in parts if (text := _part(part)))


def _part(part: Part) -> str:
    comments = ("".join(each if each.isprintable() else "?" for each in comment) for comment in part.comments)
    lines = [
        line for comment in comments for line in textwrap.wrap(comment, WIDTH - 2, break_long_words=False, break_on_hyphens=False)
    ]
    text = yaml.dump(part.sections, Dumper=Dumper, sort_keys=False, width=10_000, allow_unicode=True) if part.sections else ""
    return "".join(f"# {line}\n" for line in lines) + text
