"""A folder of the user's own beside the cluster file, and which of its files go to the nodes."""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, ValidationInfo, WithJsonSchema
from pydantic_core import PydanticKnownError

from config.suggestions import nearest

# Left by Python and Git wherever they work; with them, the nodes' prefix would change from run to run.
NEVER_COPIED = frozenset({"__pycache__", ".git"})


@dataclass(frozen=True)
class Content:
    """What is in a folder: the files that are copied, by their paths in it, and why others cannot be."""

    files: dict[str, Path]
    problems: dict[str, str]


def content_of(folder: Path) -> Content:
    """All files below the folder. A link to a file in the folder is that file; no link leads out of it."""
    content = Content({}, {})
    root = folder.resolve()
    for path in _below(root):
        name = path.relative_to(root).as_posix()
        if problem := _problem(path, root):
            content.problems[name] = problem
        else:
            content.files[name] = path
    return content


def _below(folder: Path) -> Iterator[Path]:
    """All that is below the folder and is no folder itself, in the order of the names."""
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda each: each.name):
            if entry.name in NEVER_COPIED:
                continue
            if entry.is_dir(follow_symlinks=False):
                yield from _below(Path(entry.path))
            else:
                yield Path(entry.path)


def _problem(path: Path, root: Path) -> str | None:
    """Why this is nothing to copy."""
    try:
        target = path.resolve(strict=True)
        mode = target.stat().st_mode
    except (OSError, RuntimeError):  # RuntimeError: links that lead in a circle
        return "is a link that leads nowhere; remove it"
    if not target.is_relative_to(root):
        return "is a link that leads out of the folder; put a copy of what it leads to in its place"
    if stat.S_ISDIR(mode):
        return "is a link to a folder, which S3 cannot hold; put a copy of the folder in its place"
    if not stat.S_ISREG(mode):
        return "is no file that can be copied; remove it"
    return None if os.access(target, os.R_OK) else "cannot be read; give yourself the right to"


def _located(value: object, info: ValidationInfo) -> Path:
    """Where the folder is, which the file names from its own folder."""
    if isinstance(value, Path):
        return value
    if not isinstance(value, str):
        raise PydanticKnownError("string_type")
    if "://" in value:
        raise ValueError(f"is an address; name a folder beside the cluster file, which a deployment copies to S3{_in_s3(info)}")
    if Path(value).is_absolute() or value.startswith("~"):
        raise ValueError("is right on this machine alone; write it from the cluster file's own folder, e.g. ../scripts")
    place = (info.context or {}).get("folder", Path()) / value
    if not os.path.isdir(place):  # noqa: PTH112  Path.is_dir raises for a name that is too long
        raise ValueError(_not_there(place, value))
    return Path(place).resolve()


def _in_s3(info: ValidationInfo) -> str:
    """How scripts are named that stay where they are in S3, which only those can that replace ours."""
    if info.field_name != "source":
        return ""
    overrides = "{LifeCycleConfig: {SourceS3Uri: s3://...}, ExecutionRole: ...}"
    return f"; or give each group `overrides: {overrides}`, with a role that reads there"


def _not_there(place: Path, value: str) -> str:
    if os.path.isfile(place):  # noqa: PTH113  the same
        return "is a file; name the folder that it is in"
    parent = place.parent
    others = [each.name for each in parent.iterdir() if each.is_dir()] if os.path.isdir(parent) else []  # noqa: PTH112  the same
    hint = nearest(place.name, others)
    return "there is no such folder; " + (hint if hint.startswith("did you") else f"make {value!r} beside the cluster file")


OwnFolder = Annotated[Path, BeforeValidator(_located), WithJsonSchema({"type": "string", "format": "path"})]
