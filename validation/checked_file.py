"""Check a cluster file: its fields, the rules between them, and the resulting request."""

import re
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from cluster_request.effective_request import EffectiveRequest
from config import errors
from config.errors import ABSENT, Level, Place, Problem
from config.model import FILE_NAME, ClusterConfig, model_of
from validation.empty_fields import empty_fields
from validation.model_errors import problems_of
from validation.override_values import override_problems
from validation.partial_config import FIELDS, ValidPart, valid_part
from validation.patterns import in_words
from validation.rules import broken_rules
from validation.suppressions import with_suppressions
from validation.yaml.reader import Document, read_yaml

CLUSTER_OVERRIDES: errors.Path = ("overrides",)


@dataclass(frozen=True)
class CheckedFile:
    """A cluster file with its cluster, unless there are errors, and all problems."""

    name: str
    config: ClusterConfig | None
    problems: tuple[Problem, ...]
    document: Document = field(default_factory=Document, repr=False)

    @property
    def errors(self) -> list[Problem]:
        """Return the problems that prevent a deployment."""
        return [problem for problem in self.problems if problem.level is Level.ERROR]

    @property
    def warnings(self) -> list[Problem]:
        """Return the warnings that are not suppressed."""
        return [problem for problem in self.problems if problem.level is Level.WARNING and problem.suppressed is None]

    def with_problems(self, problems: Iterable[Problem]) -> "CheckedFile":
        """Return the same file with more problems."""
        more = [replace(problem, place=self.document.place(problem.path)) for problem in problems]
        found = replace(self, problems=tuple(sorted((*self.problems, *more), key=_order)))
        return replace(found, config=None) if found.errors else found


def check_source(source: bytes, name: str, folder: Path, file: str = "") -> CheckedFile:
    """Check the YAML text of a cluster in this folder."""
    document = read_yaml(source)
    if document.content is None and not document.problems:
        empty = "the file is empty; copy a file from examples/clusters/"
        return CheckedFile(file, None, (Problem((), ABSENT, empty, rule="file.empty"),))
    if not isinstance(document.content, dict):
        message = "must be a mapping; start with `region:` or `network:`"
        problem = Problem((), document.content, message, rule="file.not-a-mapping", place=document.place(()))
        return CheckedFile(file, None, tuple(document.problems) or (problem,))
    config, problems = _checked(document, document.content, name, folder)
    placed = (each if each.place else replace(each, place=document.place(each.path)) for each in problems)
    found = CheckedFile(file, config, tuple(sorted(placed, key=_order)), document)
    return replace(found, config=None) if found.errors else found


def _order(problem: Problem) -> Place:
    return problem.place or Place(0, 0)


def _checked(
    document: Document, content: dict[str, Any], name: str, folder: Path
) -> tuple[ClusterConfig | None, Iterable[Problem]]:
    model, spelling = model_of(content), document.spelling
    context = {"folder": folder}  # to which folders in the file are relative
    empty = list(empty_fields(content, model, spelling))
    overridden = list(override_problems(content, model, spelling, context))
    problems = [*_name_problems(content, name), *empty, *overridden]
    try:
        part = ValidPart(model.model_validate({**content, "name": name}, context=context), set(FIELDS))
    except ValidationError as error:
        problems += [each for each in problems_of(error, model, spelling) if each.path != ("name",)]
        part = valid_part(content, context)
    problems += _without_consequences(list(part.request_problems()), problems)
    part = part.without_groups({problem.path[1] for problem in overridden if problem.path[0] == "instance_groups"})
    part = part.without_fields(_unclear(document.problems, empty))
    found = broken_rules(part.config, EffectiveRequest(part.for_request()), part.valid)
    broken = [each for each in found if not _is_misplaced(each, problems)]
    problems += _without_consequences(_without_request_consequences(broken, problems), [*empty, *overridden])
    whole = [*document.problems, *_without_consequences(problems, document.problems)]
    return part.config, with_suppressions(whole, part.config, part.valid)


def _unclear(unread: Iterable[Problem], empty: Iterable[Problem]) -> set[str]:
    """Return the top-level fields whose content is doubtful; an empty field can be an incomplete section."""
    unclear = {str(problem.path[0]) for problem in unread if problem.path}
    return unclear | {str(problem.path[0]) for problem in empty if len(problem.path) == 2}


def _without_consequences(problems: list[Problem], of: list[Problem]) -> Iterator[Problem]:
    """Return the problems that do not follow from one of the problems in ``of`` (the same path, or one below)."""
    paths = [problem.path for problem in of if problem.path]
    return (each for each in problems if not any(each.path[: len(path)] == path for path in paths))


def _is_misplaced(missing: Problem, problems: list[Problem]) -> bool:
    """Return whether a missing field is in another section, where it is reported as unknown."""
    unknown = (problem for problem in problems if problem.rule == "unknown-field")
    return missing.value is ABSENT and any(problem.path[-1:] == missing.path[-1:] for problem in unknown)


def _without_request_consequences(broken: Iterable[Problem], problems: list[Problem]) -> list[Problem]:
    """Return rule violations, without warnings on `overrides` that follow from a request error.

    Errors in the cluster's overrides affect all groups; errors in a group affect only that group.
    """
    rejected = {_overrides(problem.path) for problem in problems} - {()}
    return [each for each in broken if each.level is not Level.WARNING or not _follows(_overrides(each.path), rejected)]


def _follows(path: errors.Path, rejected: Set[errors.Path]) -> bool:
    """Return whether a problem in these `overrides` can follow from errors in others."""
    if path == CLUSTER_OVERRIDES:
        return bool(rejected)
    return path != () and (path in rejected or CLUSTER_OVERRIDES in rejected)


def _overrides(path: errors.Path) -> errors.Path:
    """Return the path of the enclosing `overrides`, or an empty path."""
    return path[: path.index("overrides") + 1] if "overrides" in path else ()


def _name_problems(content: dict[str, Any], name: str) -> Iterator[Problem]:
    """Yield problems with the file's name, which is the cluster's name."""
    if "name" in content:
        message = "the file name sets the cluster's name; remove this line, or rename the file"
        yield Problem(("name",), content["name"], message, rule="unknown-field")
    if not re.fullmatch(FILE_NAME, name):
        better = re.sub("[^a-z0-9]+", "-", name.lower()).strip("-")
        example = f", e.g. {better}.yaml" if re.fullmatch(FILE_NAME, better) else ""
        message = f"file name {in_words(f'^{FILE_NAME}$')}; rename the file{example}"
        yield Problem((), name, message, rule="file.name")
