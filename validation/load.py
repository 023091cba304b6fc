"""Reads cluster files: `load_cluster` one, `load_clusters` a folder of them. Every problem is reported, and at once."""

from collections.abc import Iterable
from pathlib import Path
from typing import NoReturn

from config import errors
from config.errors import ABSENT, ConfigError, Problem
from config.model import ClusterConfig
from config.suggestions import nearest
from validation.checked_file import CheckedFile, check_source


def load_cluster(path: Path) -> ClusterConfig:
    """The cluster that the file describes; a ConfigError says all that is wrong with it."""
    return usable(check_files([path]))[0]


def load_clusters(folder: Path, only: str | None = None) -> tuple[ClusterConfig, ...]:
    """The clusters of all files in the folder, or ``only`` the one of this name."""
    return usable(check_clusters(folder, only))


def check_clusters(folder: Path, only: str | None = None) -> tuple[CheckedFile, ...]:
    """The same files with all that there is to say of them; a ConfigError says why there are none."""
    strays = [path for path in _named("*.yml", folder) if only in (None, path.stem)]
    told = tuple(CheckedFile(_place(path), None, (_misnamed(path),)) for path in strays)
    named = _named("*.yaml", folder)
    return (*check_files(path for path in named if only in (None, path.stem)), *told) or _nothing(folder, only, named)


def check_files(paths: Iterable[Path]) -> tuple[CheckedFile, ...]:
    """Each file with all that there is to say of it, also of it beside the others."""
    read = {path: _read(path) for path in paths}
    shared = dict(_shared_names({path: file.config for path, file in read.items() if file.config}))
    return tuple(file.with_problems([shared[path]] if path in shared else []) for path, file in read.items())


def usable(files: Iterable[CheckedFile]) -> tuple[ClusterConfig, ...]:
    """The files' clusters; a ConfigError says all that is wrong in any of them."""
    checked = tuple(files)
    if any(file.errors for file in checked):
        raise ConfigError({file.name: file.errors for file in checked})
    return tuple(file.config for file in checked if file.config)


def parse_cluster(source: bytes, name: str, folder: Path = Path()) -> ClusterConfig | list[Problem]:
    """The cluster of this name that the YAML text in this folder describes, or all that is wrong with it."""
    checked = check_source(source, name, folder)
    return checked.config or checked.errors


def _read(path: Path) -> CheckedFile:
    file = _place(path)
    try:
        source = path.read_bytes()
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}; {_remedy_for(path)}"
        return CheckedFile(file, None, (Problem((), path.name, message, "file.unreadable"),))
    checked = check_source(source, path.stem, path.parent, file)
    return checked if path.suffix == ".yaml" else checked.with_problems([_misnamed(path)])


def _remedy_for(path: Path) -> str:
    names = [file.stem for file in path.parent.glob("*.yaml")]
    return nearest(path.stem, names) if names and not path.exists() else "check its name and its permissions"


def _named(pattern: str, folder: Path) -> list[Path]:
    """The folder's files of this form, in the order of their names; what is hidden is an editor's, or the system's."""
    return sorted(path for path in folder.glob(pattern) if not path.name.startswith("."))


def _nothing(folder: Path, only: str | None, there: list[Path]) -> NoReturn:
    """Say why the folder has no cluster file, or none of this name."""
    path: errors.Path = ()
    if folder.is_file():
        value: object = ABSENT
        message = f"this is a file, and its folder is wanted; give {_place(folder.parent)}, and {folder.stem} as the cluster"
    elif only is None or not there:
        remedy = "copy one of examples/clusters/ there" if folder.is_dir() else "there is no such folder; make it"
        value, message = "*.yaml", f"there is no cluster file; {remedy}"
    else:
        names = [each.stem for each in there]
        path, value = ("cluster",), only
        message = f"there is no cluster of this name; there are {', '.join(names)}; {nearest(only, names)}"
    raise ConfigError({_place(folder): [Problem(path, value, message, "file.unreadable")]})


def _misnamed(path: Path) -> Problem:
    return Problem((), path.name, "cluster files end in .yaml; rename it", "file.unreadable")


def _shared_names(clusters: dict[Path, ClusterConfig]) -> Iterable[tuple[Path, Problem]]:
    """The files whose `cluster_name` another file in the same account and region has already."""
    first: dict[tuple[str | None, ...], Path] = {}
    for path, config in clusters.items():
        place = (config.account, config.region, config.cluster_name)
        if config.cluster_name is not None and first.setdefault(place, path) != path:
            message = f"is the cluster_name of {_place(first[place])} too; choose another, or remove it to have one generated"
            yield path, Problem(("cluster_name",), config.cluster_name, message, "file.shared-name")


def _place(path: Path) -> str:
    """The path from the working directory, if it is below that, whoever gives it."""
    full, here = path.absolute(), Path.cwd()
    return str(full.relative_to(here) if full.is_relative_to(here) else path)
