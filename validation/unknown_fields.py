"""Explain unknown fields: misplaced ones, the API's names, and files of other tools."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from pydantic_core import ErrorDetails

from cluster_request.service_model import Shape, group_shape, input_shape, shape
from config.errors import Path, Problem, dotted
from config.fields import keyed_section, section_at, section_of
from config.model import EKS_FIELDS, SLURM_FIELDS, ClusterConfig, SlurmClusterConfig
from config.section import Section
from config.suggestions import either, like
from validation.synonyms import FORMER, field_meant, member_meant

MOST_PLACES = 3
UNKNOWN, NOT_HERE = "unknown field", "unknown field in this section"
# Files that `hpod import` reads, by a key of each.
FOREIGN = {"InstanceGroups": "a CreateCluster request", "worker_groups": "provisioning_parameters.json"}

Explained = tuple[Problem, Sequence[ErrorDetails]]


def misplaced_fields(details: Sequence[ErrorDetails], model: type[Section]) -> Iterator[Explained]:
    """Yield a problem for each misplaced field, with the errors that it explains."""
    if foreign := _foreign(details, model):
        yield foreign, details
        return
    empty = {detail["loc"]: detail for detail in details if detail["type"] == "model_type" and detail["input"] is None}
    unknown = [detail for detail in details if detail["type"] == "extra_forbidden"]
    yield from _split_entries(details)
    for section, parts in groupby(unknown, key=lambda detail: _empty_section(detail, empty, model)):
        fields = list(parts)
        if section is not None:
            message = f"belongs to the empty section `{section[-1]}`"
            yield _problem(fields[0], message, "indent it and the section's other fields"), [empty[section], *fields]
            continue
        yield from _together([found for field in fields for found in _elsewhere(field, details, model)])


def _foreign(details: Sequence[ErrorDetails], model: type[Section]) -> Problem | None:
    """Return a problem if the whole file has another tool's format."""
    given: Mapping[str, object] = next(
        (detail["input"] for detail in details if len(detail["loc"]) == 1 and detail["type"] == "missing"), {}
    )
    if (model.model_fields.keys() - {"name"}) & given.keys():
        return None
    what = next((key for key in FOREIGN if key in given), None)
    if what is None:
        return None
    message = f"belongs to {FOREIGN[what]}"
    return Problem((what,), given[what], message, "convert it with `./hpod import FILE`", rule="unknown-field")


def _split_entries(details: Sequence[ErrorDetails]) -> Iterator[Explained]:
    """Yield list entries that are split, because each field has its own minus."""
    incomplete: dict[Path, list[ErrorDetails]] = {}
    for detail in details:
        if detail["type"] == "missing":
            incomplete.setdefault(detail["loc"][:-1], []).append(detail)
    for run in _runs([entry for entry in incomplete if entry and isinstance(entry[-1], int)]):
        if len(run) > 1 and _are_one([incomplete[each] for each in run]):
            message = "starts a new entry with its minus"
            fix = "remove the minus if it belongs to the entry above"
            problem = Problem(run[1], incomplete[run[1]][0]["input"], message, fix, rule="missing-field")
            yield problem, [detail for each in run for detail in incomplete[each]]


def _runs(entries: Sequence[Path]) -> Iterator[list[Path]]:
    """Yield the entries, grouped by adjacent positions in one list."""
    run: list[Path] = []
    for entry in entries:
        if run and (entry[:-1] != run[-1][:-1] or entry[-1] != int(run[-1][-1]) + 1):
            yield run
            run = []
        run.append(entry)
    yield run


def _are_one(entries: Sequence[Sequence[ErrorDetails]]) -> bool:
    """Return whether the entries share no field and together have all required ones."""
    given = [key for entry in entries for key in entry[0]["input"]]
    return len(set(given)) == len(given) and {detail["loc"][-1] for entry in entries for detail in entry} <= set(given)


def _empty_section(detail: ErrorDetails, empty: Mapping[Path, ErrorDetails], model: type[Section]) -> Path | None:
    """Return the empty section beside the field that knows the field."""
    *around, word = detail["loc"]
    for path in empty:
        section = section_at(model, (*path, ""))
        if list(path[:-1]) == around and section and word in section.model_fields:
            return path
    return None


def _elsewhere(detail: ErrorDetails, details: Sequence[ErrorDetails], model: type[Section]) -> Iterator[Explained]:
    """Explain a field of another section or of the API, or a misspelled required one."""
    *around, word = detail["loc"]
    section = section_at(model, detail["loc"])
    if section is None or not isinstance(word, str):
        return
    missing = [each for each in details if each["type"] == "missing" and list(each["loc"][:-1]) == around]
    if like(word, [str(each["loc"][-1]) for each in missing]):
        return
    if name := _of_the_api(section, word) or field_meant(word, section.model_fields):
        found = [each for each in missing if each["loc"][-1] == name]
        yield _problem(detail, UNKNOWN, f"did you mean {name}?"), [detail, *found]
    elif parts := _known(section, word):
        yield _problem(detail, *parts), [detail]
    elif parents := list(_sections_with(word, model)):
        resolved = [
            each for each in details if each["type"] == "missing" and each["loc"] in [(*place, word) for place in parents]
        ]
        yield _problem(detail, NOT_HERE, _move(parents)), [detail, *resolved]
    elif len(missing) == 1 and _is_alone(detail, details) and not like(word, section.model_fields):
        yield _problem(detail, UNKNOWN, f"did you mean the required {missing[0]['loc'][-1]}?"), [detail, *missing]


def _known(section: type[Section], word: str) -> tuple[str, str] | None:
    """Return a message and the fix for a former field of the file, and for a member that `overrides` may have."""
    members = _overridable(section)
    if "instance_groups" in section.model_fields and word in FORMER:
        return FORMER[word]
    if word in members:
        return "is a member of CreateCluster", "move it to `overrides` in this section"
    member = member_meant(word, members)
    return (UNKNOWN, f"use `overrides: {{{member}}}`") if member else None


def _together(found: Sequence[Explained]) -> Iterator[Explained]:
    """Merge problems with fields of one section that belong in the same other section."""
    for (around, message, fix), parts in groupby(found, key=lambda each: (each[0].path[:-1], each[0].message, each[0].fix)):
        same = list(parts)
        words = [str(problem.path[-1]) for problem, _ in same]
        if len(words) > 1 and message == NOT_HERE:
            all_of_them = fix.replace("move it ", f"move it, with {', '.join(words[1:])}, ", 1)
            problem = replace(same[0][0], path=(*around, words[0]), fix=all_of_them)
            yield problem, [detail for _, details in same for detail in details]
        else:
            yield from same


def _of_the_api(section: type[Section], word: str) -> str | None:
    """Return the section's field for the API's member of this name."""
    plain = word.lower().replace("_", "")
    for name, field in section.model_fields.items():
        extra = field.json_schema_extra
        api = str(extra.get("api", "")) if isinstance(extra, dict) else ""
        if plain == api.rpartition(".")[2].rpartition(" ")[2].removesuffix("[]").lower() and name != word:
            return name
    return None


def _overridable(section: type[Section]) -> Collection[str]:
    """Return the members that the section's `overrides` may have."""
    if "overrides" not in section.model_fields:
        return ()
    is_cluster = "instance_groups" in section.model_fields
    members: Mapping[str, Shape] = shape(input_shape("CreateCluster") if is_cluster else group_shape())["members"]
    return members


def _sections_with(word: str, section: type[Section], at: Path = ()) -> Iterator[Path]:
    """Yield the sections for the file's orchestrator that have a field of this name."""
    other = EKS_FIELDS if section is SlurmClusterConfig else SLURM_FIELDS if section is ClusterConfig else ()
    if word in section.model_fields and word != "name" and word not in other:
        yield at
    for name, field in section.model_fields.items():
        if name not in other and (below := section_of(field.annotation)):
            yield from _sections_with(word, below, (*at, name, "NAME") if keyed_section(field.annotation) else (*at, name))


def _move(parents: Sequence[Path]) -> str:
    if () in parents:
        return "move it to the top level"
    shown = [f"`{dotted(place)}`" for place in parents]
    return (
        f"move it to {either(shown)}" if len(shown) <= MOST_PLACES else f"move it to {', '.join(shown[:MOST_PLACES])} or others"
    )


def _is_alone(detail: ErrorDetails, details: Sequence[ErrorDetails]) -> bool:
    """Return whether no other field of its section is unknown."""
    return [each["loc"][:-1] for each in details if each["type"] == "extra_forbidden"].count(detail["loc"][:-1]) == 1


def _problem(detail: ErrorDetails, message: str, fix: str) -> Problem:
    return Problem(detail["loc"], detail["input"], message, fix, rule="unknown-field")
