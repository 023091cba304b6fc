"""Load cluster files, and report every problem at once."""

from collections.abc import Iterable
from pathlib import Path
from typing import NoReturn

from config import errors
from config.entries import repeated
from config.errors import ABSENT, ConfigError, Problem
from config.model import ClusterConfig
from config.regular_file import read_bounded
from config.suggestions import either, like, nearest
from validation.checked_file import CheckedFile, check_source


def load_cluster(path: Path) -> ClusterConfig:
    """Return the cluster in the file, or raise a ConfigError with every problem."""
    return usable(check_files([path]))[0]


def load_clusters(folder: Path, only: str | None = None) -> tuple[ClusterConfig, ...]:
    """Return the clusters of all files in the folder, or ``only`` the one with this name."""
    return usable(check_clusters(folder, only))


def check_clusters(folder: Path, only: str | None = None) -> tuple[CheckedFile, ...]:
    """Check the same files; raise a ConfigError if there are none."""
    strays = [path for path in _named("*.yml", folder) if only in (None, path.stem)]
    misnamed = tuple(CheckedFile(_place(path), None, (_misnamed(path),)) for path in strays)
    named = _named("*.yaml", folder)
    return (*check_files(path for path in named if only in (None, path.stem)), *misnamed) or _nothing(folder, only, named)


def check_files(paths: Iterable[Path]) -> tuple[CheckedFile, ...]:
    """Check each file, and compare the files with each other."""
    read = {path: _read(path) for path in paths}
    shared = dict(_shared_names({path: file.config for path, file in read.items() if file.config}))
    return tuple(file.with_problems([shared[path]] if path in shared else []) for path, file in read.items())


def usable(files: Iterable[CheckedFile]) -> tuple[ClusterConfig, ...]:
    """Return the files' clusters, or raise a ConfigError with every problem."""
    checked = tuple(files)
    if any(file.errors for file in checked):
        raise ConfigError({file.name: file.errors for file in checked})
    return tuple(file.config for file in checked if file.config)


def parse_cluster(source: bytes, name: str, folder: Path = Path()) -> ClusterConfig | list[Problem]:
    """Return the cluster in the YAML text, or its problems."""
    checked = check_source(source, name, folder)
    return checked.config or checked.errors


def _read(path: Path) -> CheckedFile:
    file = _place(path)
    try:
        source = read_bounded(path)
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
        return CheckedFile(file, None, (Problem((), path.name, message, _fix_for(path), rule="file.unreadable"),))
    checked = check_source(source, path.stem, path.parent, file)
    return checked if path.suffix == ".yaml" else checked.with_problems([_misnamed(path)])


def _fix_for(path: Path) -> str:
    names = [file.stem for file in path.parent.glob("*.yaml")]
    return nearest(path.stem, names) if names and not path.exists() else "check its name and permissions"


def _named(pattern: str, folder: Path) -> list[Path]:
    """Return the folder's visible files that match the pattern, sorted by name."""
    return sorted(path for path in folder.glob(pattern) if not path.name.startswith("."))


def _nothing(folder: Path, only: str | None, there: list[Path]) -> NoReturn:
    """Raise a ConfigError: the folder has no cluster file, or none of this name."""
    path: errors.Path = ()
    if folder.is_file():
        value: object = ABSENT
        message, fix = "not a folder", f"pass {_place(folder.parent)}, and {folder.stem} as the cluster"
    elif only is None or not there:
        fix = "copy one from examples/clusters/" if folder.is_dir() else "create the folder"
        value, message = "*.yaml", "no cluster file found" if folder.is_dir() else "folder not found"
    else:
        names = [each.stem for each in there]
        path, value = ("cluster",), only
        similar = like(only, names)
        other = f"did you mean {either(similar)}?" if similar else "use one of these, or the folder that has its file"
        message, fix = "unknown cluster", f"available: {', '.join(names)}; {other}"
    raise ConfigError({_place(folder): [Problem(path, value, message, fix, rule="file.unreadable")]})


def _misnamed(path: Path) -> Problem:
    return Problem((), path.name, "the file name must end in .yaml", "rename it", rule="file.unreadable")


def _shared_names(clusters: dict[Path, ClusterConfig]) -> Iterable[tuple[Path, Problem]]:
    """Yield files whose `cluster_name` another file in the same account and region has."""
    named = ((path, (each.account, each.region, each.cluster_name)) for path, each in clusters.items() if each.cluster_name)
    for path, (*_, name), first in repeated(named):
        fix = "use another name, or remove it to generate one"
        yield path, Problem(("cluster_name",), name, f"already used by {_place(first)}", fix, rule="file.shared-name")


def _place(path: Path) -> str:
    """Return the path relative to the working directory, if it is inside."""
    full, here = path.absolute(), Path.cwd()
    return str(full.relative_to(here) if full.is_relative_to(here) else path)
