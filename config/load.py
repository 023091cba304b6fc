"""Reads cluster files: `load_cluster` one, `load_clusters` a folder of them. Every problem is reported, and at once."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from config.errors import ABSENT, ConfigError, Problem
from config.explain import problems_of
from config.model import FILE_NAME, ClusterConfig
from config.nearest import nearest
from config.patterns import in_words
from config.request import request_problems
from config.rules import broken_rules
from config.yaml_file import Document, read_yaml

FIELDS = ClusterConfig.model_fields


def load_cluster(path: Path) -> ClusterConfig:
    """The cluster that the file describes; a ConfigError says all that is wrong with it."""
    found = _read(path)
    if isinstance(found, ClusterConfig):
        return found
    raise ConfigError({_place(path): found})


def load_clusters(folder: Path, only: str | None = None) -> tuple[ClusterConfig, ...]:
    """The clusters of all files in the folder, or ``only`` the one of this name."""
    read = {path: _read(path) for path in _files(folder, only)}
    problems = {_place(path): found for path, found in read.items() if not isinstance(found, ClusterConfig)}
    clusters = {path: found for path, found in read.items() if isinstance(found, ClusterConfig)}
    problems |= {_place(path): [problem] for path, problem in _shared_names(clusters)}
    if problems:
        raise ConfigError(problems)
    return tuple(clusters.values())


def parse_cluster(source: bytes, name: str, folder: Path = Path()) -> ClusterConfig | list[Problem]:
    """The cluster of this name that the YAML text in this folder describes, or all that is wrong with it."""
    document = read_yaml(source)
    if document.content is None and not document.problems:
        return [Problem((), ABSENT, "the file is empty; copy one of examples/clusters/ and edit it")]
    if not isinstance(document.content, dict):
        return document.problems or [Problem((), document.content, "must be a mapping; begin with `region:` or `network:`")]
    return _checked(document, document.content, name, folder)


def _checked(document: Document, content: dict[str, Any], name: str, folder: Path) -> ClusterConfig | list[Problem]:
    problems = list(_name_problems(content, name))
    valid = set(FIELDS)
    context = {"folder": folder}  # from which the file names folders
    try:
        config = ClusterConfig.model_validate({**content, "name": name}, context=context)
    except ValidationError as error:
        problems += [each for each in problems_of(error, ClusterConfig, document.spelling) if each.path != ("name",)]
        config, valid = _valid_part(content, context)
    else:
        problems += request_problems(config)
    doubtful = {problem.path[0] for problem in document.problems if problem.path}
    problems += broken_rules(config, valid - doubtful)
    return [*document.problems, *_not_following(problems, document.problems)] or config


def _not_following(problems: list[Problem], of: list[Problem]) -> Iterator[Problem]:
    """The problems that are not about what one of the problems in ``of`` is about, or lies in: those would follow from it."""
    paths = [problem.path for problem in of if problem.path]
    return (each for each in problems if not any(each.path[: len(path)] == path for path in paths))


def _name_problems(content: dict[str, Any], name: str) -> Iterator[Problem]:
    """What is wrong with the file's own name, which is the cluster's."""
    if "name" in content:
        message = "the file's own name is the cluster's name; remove this line, or rename the file"
        yield Problem(("name",), content["name"], message)
    if not re.fullmatch(FILE_NAME, name):
        message = f"is the file's own name, which is the cluster's and {in_words(f'^{FILE_NAME}$')}; rename the file"
        yield Problem((), name, message)


def _valid_part(content: dict[str, Any], context: dict[str, Path]) -> tuple[ClusterConfig, set[str]]:
    """What of the file is valid by itself, so that the rules can look at it although the rest is not."""
    values: dict[str, Any] = {}
    for name, field in FIELDS.items():
        adapter: TypeAdapter[Any] = TypeAdapter(field.rebuild_annotation())
        try:
            given = name in content
            values[name] = adapter.validate_python(content[name], context=context) if given else field.get_default()
        except ValidationError:
            continue
    return ClusterConfig.model_construct(**values), {name for name in values if name in content or not FIELDS[name].is_required()}


def _read(path: Path) -> ClusterConfig | list[Problem]:
    try:
        source = path.read_bytes()
    except OSError as error:
        return [Problem((), path.name, f"cannot be read: {error.strerror or error}; {_remedy_for(path)}")]
    return parse_cluster(source, path.stem, path.parent)


def _remedy_for(path: Path) -> str:
    names = [file.stem for file in path.parent.glob("*.yaml")]
    return nearest(path.stem, names) if names and not path.exists() else "check its name and its permissions"


def _files(folder: Path, only: str | None) -> list[Path]:
    """The cluster files to read, in the order of their names."""
    if folder.is_file():
        message = f"this is a file, and its folder is wanted; give {_place(folder.parent)}, and {folder.stem} as the cluster"
        raise ConfigError({_place(folder): [Problem((), ABSENT, message)]})
    files = sorted(folder.glob("*.yaml"))
    if strange := sorted(folder.glob("*.yml")):
        raise ConfigError({_place(path): [Problem((), path.name, "cluster files end in .yaml; rename it")] for path in strange})
    if not files:
        remedy = "copy one of examples/clusters/ there" if folder.is_dir() else "there is no such folder; make it"
        raise ConfigError({_place(folder): [Problem((), "*.yaml", f"there is no cluster file; {remedy}")]})
    if only is None:
        return files
    named = [path for path in files if path.stem == only]
    if not named:
        names = [path.stem for path in files]
        message = f"there is no cluster of this name; there are {', '.join(names)}; {nearest(only, names)}"
        raise ConfigError({_place(folder): [Problem(("cluster",), only, message)]})
    return named


def _shared_names(clusters: dict[Path, ClusterConfig]) -> Iterable[tuple[Path, Problem]]:
    """The files whose `cluster_name` another file in the same account and region has already."""
    first: dict[tuple[str | None, ...], Path] = {}
    for path, config in clusters.items():
        place = (config.account, config.region, config.cluster_name)
        if config.cluster_name is not None and first.setdefault(place, path) != path:
            message = f"is the cluster_name of {_place(first[place])} too; choose another, or remove it to have one generated"
            yield path, Problem(("cluster_name",), config.cluster_name, message)


def _place(path: Path) -> str:
    """The path from the working directory, if it is below that, whoever gives it."""
    full, here = path.absolute(), Path.cwd()
    return str(full.relative_to(here) if full.is_relative_to(here) else path)
