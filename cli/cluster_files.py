"""The cluster files that a command reads, by path, by name, or all in the folder, and new ones that it writes."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from cli.cluster_folder import is_path
from cli.errors import CommandError
from config.errors import ABSENT, ConfigError, Problem
from validation.checked_file import CheckedFile
from validation.load import check_clusters, check_files


def checked(folder: Path, named: Sequence[str]) -> tuple[CheckedFile, ...]:
    """Return the named files, each once, or all in the folder; a missing file is a problem like any other."""
    if not named:
        return _of_folder(folder, None)
    if all(is_path(name) and not Path(name).is_dir() for name in named):
        return check_files(map(Path, dict.fromkeys(named)))  # together, so that shared names are found
    return tuple({file.name: file for file in _each(folder, named)}.values())


def cluster_path(cluster: str, folder: Path) -> Path:
    """Return the path of a cluster file, by path or by name."""
    return Path(cluster) if is_path(cluster) else folder / f"{cluster}.yaml"


def _each(folder: Path, named: Sequence[str]) -> Iterator[CheckedFile]:
    for name in named:
        if Path(name).is_dir() and not (folder / f"{name}.yaml").exists():
            message = f"{name} is a folder, not a file or a cluster name"
            fix = f"pass --clusters {name}"
            yield CheckedFile(name, None, (Problem((), ABSENT, message, fix, rule="file.unreadable"),))
        elif is_path(name):
            yield from check_files([Path(name)])
        else:
            yield from _of_folder(folder, name)


def _of_folder(folder: Path, only: str | None) -> tuple[CheckedFile, ...]:
    """Return the files in the folder, or only the one with this name."""
    try:
        return check_clusters(folder, only)
    except ConfigError as error:
        return tuple(CheckedFile(name, None, problems) for name, problems in error.problems.items())


def write_new(path: Path, text: str, *, force: bool) -> None:
    """Write the file; one that is there already is replaced only with ``force``."""
    if path.suffix != ".yaml":
        raise CommandError(f"{path}: cluster files end in .yaml", "choose another name")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w" if force else "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise CommandError(f"{path} already exists", "choose another name, or pass --force to overwrite it") from None
    except OSError as error:
        raise CommandError(f"cannot write {path}: {error.strerror or error}", "choose another name") from error
