"""A strict JSON reader, which keeps the place of every value."""

import json
import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath

from config.errors import ABSENT, ConfigError, Path, Place, Problem
from config.regular_file import read_bounded

EXPECTED = "write it as JSON"
TEMPLATE = re.compile("^(AWSTemplateFormatVersion|Resources):", re.MULTILINE)
REQUEST = re.compile("^(ClusterName|InstanceGroups|Orchestrator|VpcConfig):", re.MULTILINE)
# The place of a member is its name's, that of a list entry its own.
Places = Mapping[Path, Place]
_BLANK = re.compile(r"[ \t\r\n]*")
_TEXT = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_OTHER = re.compile(r"[^,\]}\s]+")


@dataclass(frozen=True)
class JsonFile:
    """The content of a file, and the place of every value."""

    name: str
    content: object
    places: Places = field(default_factory=dict, repr=False)

    def place(self, path: Path) -> Place | None:
        """Return the place of the path, or of the object that lacks it."""
        return next((self.places[path[:end]] for end in range(len(path), -1, -1) if path[:end] in self.places), None)


def read_json(file: FilePath) -> JsonFile:
    """Return the file's content; raise a ConfigError if it cannot be read."""
    try:
        text = read_bounded(file).decode("utf-8-sig")
        content = json.loads(text, object_pairs_hook=_object, parse_constant=_refuse)
        return JsonFile(str(file), content, places_of(text))
    except OSError as error:
        problem = Problem((), file.name, f"cannot be read: {error.strerror or error}", "check its name and its permissions")
    except UnicodeDecodeError:
        problem = Problem((), ABSENT, "is not UTF-8 text", EXPECTED)
    except json.JSONDecodeError as error:
        problem = Problem(
            (), _line(error), f"is not JSON: {error.msg}", _fix(error, file), place=Place(error.lineno, error.colno)
        )
    except ValueError as error:  # raised below, and by numbers with thousands of digits
        problem = Problem((), ABSENT, str(error), f"{EXPECTED} without duplicate keys", place=strange_place(text))
    except RecursionError:
        problem = Problem((), ABSENT, "is nested too deeply", EXPECTED)
    raise ConfigError({str(file): [problem]})


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"an object has {json.dumps(name)} twice")
        found[name] = value
    return found


def _refuse(word: str) -> object:
    raise ValueError(f"{word} is not a JSON number")


def _line(error: json.JSONDecodeError) -> str:
    lines = error.doc.splitlines()
    return lines[error.lineno - 1].strip() if error.lineno <= len(lines) else ""


def _fix(error: json.JSONDecodeError, file: FilePath) -> str:
    if file.suffix in (".yaml", ".yml") and TEMPLATE.search(error.doc):
        return "this is a CloudFormation template: pass CreateCluster's input as JSON, or --from-cluster with its name"
    if file.suffix in (".yaml", ".yml") and REQUEST.search(error.doc):
        return "this is the file of `--cli-input-yaml`: write the same members as JSON, or pass --from-cluster with its name"
    if file.suffix in (".yaml", ".yml"):
        return f"this is a cluster file: `./hpod validate {file}` checks it"
    found = error.doc[error.pos : error.pos + 1]
    if found.isspace() and not found.isascii():
        return f"replace the characters U+{ord(found):04X}, often copied from web pages, with spaces"
    return "replace the shell variable with its value" if "$" in _line(error) else EXPECTED


def places_of(text: str) -> Places:
    """Return the places in a text that `json` can read."""
    scanner = _Scanner(text)
    scanner.value(0, ())
    return scanner.places


def strange_place(text: str) -> Place | None:
    """Return the first place of what `json` accepts and JSON forbids: a duplicate key, NaN or Infinity."""
    try:
        json.loads(text)
        scanner = _Scanner(text)
        scanner.value(0, ())
    except (ValueError, RecursionError):  # followed by something that is not JSON
        return None
    return min(scanner.strange, default=None)


class _Scanner:
    """Scans a text that is known to be valid JSON."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines = [0, *(found.end() for found in re.finditer("\n", text))]
        self.places: dict[Path, Place] = {}
        self.strange: list[Place] = []

    def value(self, at: int, path: Path) -> int:
        """Return the end of the value that begins at or after ``at``."""
        at = self._next(at)
        self.places.setdefault(path, self._place(at))
        match self._text[at]:
            case "{":
                return self._object(at, path)
            case "[":
                return self._list(at, path)
            case '"':
                return _end(_TEXT, self._text, at)
            case "N" | "I":
                self.strange.append(self._place(at))
            case "-" if self._text.startswith("-I", at):
                self.strange.append(self._place(at))
        return _end(_OTHER, self._text, at)

    def _object(self, at: int, path: Path) -> int:
        at = self._next(at + 1)
        while self._text[at] != "}":
            end = _end(_TEXT, self._text, at)
            member = (*path, json.loads(self._text[at:end]))
            if member in self.places:
                self.strange.append(self._place(at))
            self.places[member] = self._place(at)
            at = self._behind(self.value(self._next(end) + 1, member))
        return at + 1

    def _list(self, at: int, path: Path) -> int:
        at, index = self._next(at + 1), 0
        while self._text[at] != "]":
            at, index = self._behind(self.value(at, (*path, index))), index + 1
        return at + 1

    def _behind(self, at: int) -> int:
        """Return where the next item begins or the end is, after an optional comma."""
        at = self._next(at)
        return self._next(at + 1) if self._text[at] == "," else at

    def _next(self, at: int) -> int:
        return _end(_BLANK, self._text, at)

    def _place(self, at: int) -> Place:
        line = bisect_right(self._lines, at)
        return Place(line, at - self._lines[line - 1] + 1)


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    if found is None:
        raise ValueError(f"no JSON at character {at}")
    return found.end()
