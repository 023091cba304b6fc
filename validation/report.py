"""Format the problems of cluster files as text, JSON, GitHub annotations or SARIF."""

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from config.errors import ABSENT, Level, Problem, dotted, placed, shown
from validation.catalog import catalog, entry
from validation.checked_file import CheckedFile

Found = Sequence[CheckedFile]

# https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
_GITHUB = {Level.ERROR: "error", Level.WARNING: "warning", Level.INFO: "notice"}
# https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html, 3.27.10
_SARIF = {Level.ERROR: "error", Level.WARNING: "warning", Level.INFO: "note"}
_SARIF_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def counted(files: Found) -> str:
    """Count the problems: ``2 errors and 1 warning in 3 files``."""
    numbers = counts(files)
    return f"{_number(numbers['error'], 'error')} and {_number(numbers['warning'], 'warning')} in {_number(len(files), 'file')}"


def _number(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def text(files: Found) -> str:
    """Return each problem with its rule and the reason; suppressed warnings are omitted."""
    return "\n".join(_in_text(file.name, problem) for file, problem in _all(files) if problem.suppressed is None)


def _in_text(file: str, problem: Problem) -> str:
    why = entry(problem.rule).why
    return f"{placed(file, problem)}: {problem.level}: {problem} [{problem.rule}]\n    {why}"


def counts(files: Found) -> dict[str, int]:
    """Return the number of problems of each level, without suppressed ones."""
    found = [problem.level for _, problem in _all(files) if problem.suppressed is None]
    return {level.value: found.count(level) for level in Level}


def problems(files: Found) -> list[dict[str, Any]]:
    """Return every problem of the files for programs."""
    return [problem_fields(file.name, problem) for file, problem in _all(files)]


def problem_fields(file: str, problem: Problem) -> dict[str, Any]:
    """Return the problem for programs."""
    return {
        "file": file,
        "line": problem.place.line if problem.place else None,
        "column": problem.place.column if problem.place else None,
        "path": dotted(problem.path),
        "value": None if problem.value is ABSENT else shown(problem.value, problem.path),
        "level": problem.level.value,
        "rule": problem.rule or None,
        "message": problem.message,
        "fix": problem.fix,
        "why": entry(problem.rule).why if problem.rule else None,
        "suppressed": problem.suppressed,
    }


def github(files: Found) -> str:
    """Return a GitHub annotation for each problem; suppressed warnings are omitted."""
    return "\n".join(_command(file.name, problem) for file, problem in _all(files) if problem.suppressed is None)


def _command(file: str, problem: Problem) -> str:
    where = {"file": file}
    if problem.place:
        where |= {"line": str(problem.place.line), "col": str(problem.place.column)}
    properties = ",".join(f"{name}={_property(value)}" for name, value in {**where, "title": problem.rule}.items())
    message = f"{problem}\n{entry(problem.rule).why}"
    return f"::{_GITHUB[problem.level]} {properties}::{_data(message)}"


def _data(value: str) -> str:
    return value.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(value: str) -> str:
    return _data(value).replace(":", "%3A").replace(",", "%2C")


def sarif(files: Found) -> str:
    """Return a SARIF 2.1.0 log; suppressed warnings are marked as such."""
    found = list(_all(files))
    known = catalog()
    rules = sorted({problem.rule for _, problem in found})
    driver = {
        "name": "hyperpod-cdk",
        "rules": [
            {
                "id": rule,
                "shortDescription": {"text": known[rule].says},
                "fullDescription": {"text": known[rule].why},
                "defaultConfiguration": {"level": _SARIF[known[rule].level]},
            }
            for rule in rules
        ],
    }
    results = [_result(file.name, problem, rules.index(problem.rule)) for file, problem in found]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return json.dumps({"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2, ensure_ascii=False)


def _result(file: str, problem: Problem, rule: int) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": {"uri": _uri(file)}}
    if problem.place:
        physical["region"] = {"startLine": problem.place.line, "startColumn": problem.place.column}
    location: dict[str, Any] = {"physicalLocation": physical}
    if problem.path:
        location["logicalLocations"] = [{"fullyQualifiedName": dotted(problem.path)}]
    result: dict[str, Any] = {
        "ruleId": problem.rule,
        "ruleIndex": rule,
        "level": _SARIF[problem.level],
        "message": {"text": str(problem)},
        "locations": [location],
    }
    if problem.suppressed is not None:
        result["suppressions"] = [{"kind": "inSource", "justification": problem.suppressed}]
    return result


def _uri(file: str) -> str:
    path = Path(file)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())


def _all(files: Found) -> Iterator[tuple[CheckedFile, Problem]]:
    return ((file, problem) for file in files for problem in file.problems)


FORMATS: dict[str, Callable[[Found], str]] = {"text": text, "github": github, "sarif": sarif}
