"""Read a local folder, and list the files of scripts to upload."""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, ValidationInfo, WithJsonSchema
from pydantic_core import PydanticKnownError

from config.suggestions import nearest

# Python and Git change these, and so the hash of the uploaded folder.
IGNORED_FOLDERS = frozenset({"__pycache__", ".git"})


@dataclass(frozen=True)
class Content:
    """The files to upload by relative path, and the problems with others, each with its fix."""

    files: dict[str, Path]
    problems: dict[str, tuple[str, str]]


def content_of(folder: Path) -> Content:
    """List all files in the folder; links must stay inside it."""
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
    """Yield everything in the folder except folders, sorted by name."""
    try:
        entries = sorted(os.scandir(folder), key=lambda each: each.name)
    except PermissionError:
        yield folder
        return
    for entry in entries:
        if entry.name in IGNORED_FOLDERS:
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _below(Path(entry.path))
        else:
            yield Path(entry.path)


def _problem(path: Path, root: Path) -> tuple[str, str] | None:
    """Return why the file cannot be uploaded, and the fix."""
    try:
        target = path.resolve(strict=True)
        mode = target.stat().st_mode
    except (OSError, RuntimeError):  # RuntimeError: a cycle of links
        return "broken link", "remove it"
    if not target.is_relative_to(root):
        return "link to a file outside the folder", "replace it with a copy"
    if stat.S_ISDIR(mode) and not path.is_symlink():
        return "no read permission", "add it"
    if stat.S_ISDIR(mode):
        return "link to a folder, which S3 does not support", "replace it with a copy"
    if not stat.S_ISREG(mode):
        return "not a regular file", "remove it"
    return None if os.access(target, os.R_OK) else ("no read permission", "add it")


def _located(value: object, info: ValidationInfo) -> Path:
    """Return the folder's path, which is relative to the cluster file."""
    if isinstance(value, Path):
        return value
    if not isinstance(value, str):
        raise PydanticKnownError("string_type")
    if "://" in value:
        upload = "" if info.field_name == "folder" else ", which the deployment uploads to S3"
        raise ValueError(f"must be a local folder{upload}", f"use a relative path{_in_s3(info)}")
    if Path(value).is_absolute() or value.startswith("~"):
        raise ValueError("must be relative to the cluster file", "use e.g. ../scripts")
    place = (info.context or {}).get("folder", Path()) / value
    if not os.path.isdir(place):  # noqa: PTH112  Path.is_dir raises for a long name
        raise ValueError(*_not_there(place, value))
    return Path(place).resolve()


def _in_s3(info: ValidationInfo) -> str:
    """Return how to use scripts in S3 instead, which only `source` supports."""
    if info.field_name != "source":
        return ""
    overrides = "{LifeCycleConfig: {SourceS3Uri: s3://...}, ExecutionRole: ...}"
    return f", or add `overrides: {overrides}` to each group, with a role that can read them"


def _not_there(place: Path, value: str) -> tuple[str, str]:
    if os.path.isfile(place):  # noqa: PTH113  the same
        return "is a file", "use its folder"
    parent = place.parent
    others = [each.name for each in parent.iterdir() if each.is_dir()] if os.path.isdir(parent) else []  # noqa: PTH112  the same
    hint = nearest(place.name, others)
    return "folder not found", hint if hint.startswith("did you") else f"create {value!r}, relative to the cluster file"


LocalFolder = Annotated[Path, BeforeValidator(_located), WithJsonSchema({"type": "string", "format": "path"})]
