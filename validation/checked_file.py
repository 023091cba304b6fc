"""Check a cluster file: its fields, the rules between them, and the resulting request."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from cluster_request.effective_request import EffectiveRequest
from config import errors
from config.errors import ABSENT, Level, Place, Problem
from config.fields import keyed_section, section_of
from config.model import FILE_NAME, ClusterConfig, model_of
from config.section import Section
from validation.model_errors import problems_of
from validation.override_values import override_problems
from validation.partial_config import FIELDS, ValidPart, valid_part
from validation.patterns import in_words
from validation.rules import broken_chart_rules, broken_rules
from validation.suppressions import with_chart_suppressions, with_suppressions
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
        empty = "the file is empty"
        return CheckedFile(file, None, (Problem((), ABSENT, empty, "copy a file from examples/clusters/", rule="file.empty"),))
    if not isinstance(document.content, dict):
        fix = "start with `region:` or `network:`"
        problem = Problem((), document.content, "must be a mapping", fix, rule="file.not-a-mapping", place=document.place(()))
        return CheckedFile(file, None, tuple(document.problems) or (problem,))
    config, problems = _checked(document, document.content, name, folder)
    placed = (each if each.place else replace(each, place=document.place(each.path)) for each in problems)
    found = CheckedFile(file, config, tuple(sorted(placed, key=_order)), document)
    return replace(found, config=None) if found.errors else found


def with_charts(files: Iterable[CheckedFile]) -> tuple[CheckedFile, ...]:
    """Return the files with the problems of their charts; a file without a chart does not call Helm."""
    return tuple(
        file.with_problems(with_chart_suppressions(broken_chart_rules(file.config), file.config))
        if file.config and file.config.renders_chart
        else file
        for file in files
    )


def _order(problem: Problem) -> Place:
    return problem.place or Place(0, 0)


def _checked(
    document: Document, content: dict[str, Any], name: str, folder: Path
) -> tuple[ClusterConfig | None, Iterable[Problem]]:
    model, spelling = model_of(content), document.spelling
    context = {"folder": folder}  # to which folders in the file are relative
    unread, empty = document.problems, list(_empty_fields(content, model, spelling))
    overridden = list(override_problems(content, model, spelling, context))
    problems = _added(unread, _name_problems(content, name), empty, overridden)
    try:
        part = ValidPart(model.model_validate({**content, "name": name}, context=context), set(FIELDS))
    except ValidationError as error:
        problems = _added(problems, (each for each in problems_of(error, model, spelling) if each.path != ("name",)))
        part = valid_part(content, context)
    problems = _added(problems, part.request_problems())
    part = part.without_groups({problem.path[1] for problem in overridden if problem.path[0] == "instance_groups"})
    part = part.without_fields(_unclear(unread, empty))
    problems = _added(problems, broken_rules(part.config, EffectiveRequest(part.for_request()), part.valid))
    return part.config, with_suppressions(problems, part.config, part.valid)


def _unclear(unread: Iterable[Problem], empty: Iterable[Problem]) -> set[str]:
    """Return the top-level fields whose content is doubtful; an empty field can be an incomplete section."""
    unclear = {str(problem.path[0]) for problem in unread if problem.path}
    return unclear | {str(problem.path[0]) for problem in empty if len(problem.path) == 2}


def _added(problems: list[Problem], *sources: Iterable[Problem]) -> list[Problem]:
    """Return the problems with those of each source that do not follow from the ones before."""
    for source in sources:
        problems = [*problems, *(each for each in source if not any(_hides(earlier, each) for earlier in problems))]
    return problems


def _hides(problem: Problem, other: Problem) -> bool:
    """Return whether the other follows from the problem: an error that the file has at the other's place or above.

    Also hidden are a missing field that the file has in another section, and warnings on `overrides` with an error: an error in
    the cluster's affects all groups, one in a group's only this group.
    """
    if problem.level is not Level.ERROR:
        return False
    if problem.path and other.path[: len(problem.path)] == problem.path:
        return True
    if problem.rule == "unknown-field" and other.value is ABSENT and other.path[-1:] == problem.path[-1:]:
        return True
    place, others = _overrides(problem.path), _overrides(other.path)
    return (
        other.level is Level.WARNING and () not in (place, others) and (place == others or CLUSTER_OVERRIDES in (place, others))
    )


def _overrides(path: errors.Path) -> errors.Path:
    """Return the path of the enclosing `overrides`, or an empty path."""
    return path[: path.index("overrides") + 1] if "overrides" in path else ()


def _name_problems(content: dict[str, Any], name: str) -> Iterator[Problem]:
    """Yield problems with the file's name, which is the cluster's name."""
    if "name" in content:
        message = "the file name sets the cluster's name"
        yield Problem(("name",), content["name"], message, "remove this line, or rename the file", rule="unknown-field")
    if not re.fullmatch(FILE_NAME, name):
        better = re.sub("[^a-z0-9]+", "-", name.lower()).strip("-")
        example = f", e.g. {better}.yaml" if re.fullmatch(FILE_NAME, better) else ""
        message = f"file name {in_words(f'^{FILE_NAME}$')}"
        yield Problem((), name, message, f"rename the file{example}", rule="file.name")


def _empty_fields(
    content: Mapping[str, Any], section: type[Section], spelling: Mapping[errors.Path, str], at: errors.Path = ()
) -> Iterator[Problem]:
    """Yield optional fields with nothing after the colon; the model reports required ones."""
    for name in content.keys() & section.model_fields.keys():
        field, value, path = section.model_fields[name], content[name], (*at, name)
        below = section_of(field.annotation)
        if value is None and spelling.get(path) == "" and not field.is_required() and field.get_default() is None:
            yield Problem(path, None, *_no_value(below), rule="type")
        elif below:
            for place, each in _sections_in(value, path, is_keyed=keyed_section(field.annotation) is not None):
                yield from _empty_fields(each, below, spelling, place)


def _sections_in(value: object, path: errors.Path, *, is_keyed: bool) -> Iterator[tuple[errors.Path, Mapping[str, Any]]]:
    """Yield the section of a field, or those in its list or mapping, with their paths."""
    if isinstance(value, dict) and not is_keyed:
        yield path, value
    entries = enumerate(value) if isinstance(value, list) else value.items() if isinstance(value, dict) and is_keyed else ()
    yield from (((*path, key), each) for key, each in entries if isinstance(each, dict))


def _no_value(section: type[Section] | None) -> tuple[str, str]:
    """Return the message and its fix."""
    if section is None:
        return "has no value", "add one after the colon, or remove this line"
    needed = [name for name, field in section.model_fields.items() if field.is_required()]
    if needed:
        return "section is empty", f"add {', '.join(needed)} below it, or remove this line"
    return "section is empty", "use {} for the defaults, or remove this line"
