"""A strict JSON reader, which keeps the place of every value."""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path as FilePath

from cli.import_cluster.json_places import Places, place_of, places_of, strange_place
from config.errors import ABSENT, ConfigError, Path, Place, Problem
from config.regular_file import read_bounded

EXPECTED = "write it as JSON"
TEMPLATE = re.compile("^(AWSTemplateFormatVersion|Resources):", re.MULTILINE)
REQUEST = re.compile("^(ClusterName|InstanceGroups|Orchestrator|VpcConfig):", re.MULTILINE)


@dataclass(frozen=True)
class JsonFile:
    """The content of a file, and the place of every value."""

    name: str
    content: object
    places: Places = field(default_factory=dict, repr=False)

    def place(self, path: Path) -> Place | None:
        """Return the place of the path, or of the object that lacks it."""
        return place_of(self.places, path)


def read_json(file: FilePath) -> JsonFile:
    """Return the file's content; raise a ConfigError if it cannot be read."""
    try:
        text = read_bounded(file).decode("utf-8-sig")
        content = json.loads(text, object_pairs_hook=_object, parse_constant=_refuse)
        return JsonFile(str(file), content, places_of(text))
    except OSError as error:
        problem = Problem((), file.name, f"cannot be read: {error.strerror or error}; check its name and its permissions")
    except UnicodeDecodeError:
        problem = Problem((), ABSENT, f"is not UTF-8 text; {EXPECTED}")
    except json.JSONDecodeError as error:
        message = f"is not JSON: {error.msg}; {_fix(error, file)}"
        problem = Problem((), _line(error), message, place=Place(error.lineno, error.colno))
    except ValueError as error:  # raised below, and by numbers with thousands of digits
        problem = Problem((), ABSENT, f"{error}; {EXPECTED} without duplicate keys", place=strange_place(text))
    except RecursionError:
        problem = Problem((), ABSENT, f"is nested too deeply; {EXPECTED}")
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
