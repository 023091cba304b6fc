"""JSON as users have it, read so that nothing in it is lost unseen."""

import json
from pathlib import Path

from config.errors import ABSENT, ConfigError, Problem

EXPECTED = "write it as JSON"


def read_json(path: Path) -> object:
    """The value in the file; a ConfigError says why there is none."""
    try:
        return json.loads(path.read_bytes().decode("utf-8-sig"), object_pairs_hook=_object, parse_constant=_refuse)
    except OSError as error:
        problem = Problem((), path.name, f"cannot be read: {error.strerror or error}; check its name and its permissions")
    except UnicodeDecodeError:
        problem = Problem((), ABSENT, f"is no text in UTF-8; {EXPECTED}")
    except json.JSONDecodeError as error:
        problem = Problem(
            (), _line(error), f"is no JSON at line {error.lineno}, column {error.colno}: {error.msg}; {_remedy(error)}"
        )
    except ValueError as error:  # ours, below, and that of a number with thousands of digits
        problem = Problem((), ABSENT, f"{error}; {EXPECTED}, each name once")
    except RecursionError:
        problem = Problem((), ABSENT, f"is nested too deep; {EXPECTED}, and flat")
    raise ConfigError({str(path): [problem]})


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"an object has {json.dumps(name)} twice")
        found[name] = value
    return found


def _refuse(word: str) -> object:
    raise ValueError(f"{word} is no number of JSON")


def _line(error: json.JSONDecodeError) -> str:
    lines = error.doc.splitlines()
    return lines[error.lineno - 1].strip() if error.lineno <= len(lines) else ""


def _remedy(error: json.JSONDecodeError) -> str:
    return "put the value in place of the shell's variable" if "$" in _line(error) else EXPECTED
