"""The bundles that are measured against each other: folders of lifecycle scripts, with what a deployment adds to them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.node_settings import LOCAL_DATABASE, user
from tests.nodes.bundle import FOLDER, Bundle

OURS = Path(__file__).parents[3] / "lifecycle_assets"
USERS = [user("alice", 10001), user("bob", 10002)]


@dataclass(frozen=True)
class Contender:
    """A bundle by its name in the tables, with all its files as they were when the bench began."""

    name: str
    files: Mapping[str, bytes]


def contenders(folders: list[Path], file_system: dict[str, Any]) -> list[Contender]:
    """The bundles in ``folders``, all on the same cluster: a file system, two users, accounting in MariaDB."""
    deployed = Bundle(parameters=file_system, settings={"users": USERS, "accounting": LOCAL_DATABASE}).files()
    written = {name: deployed[name] for name in ("provisioning_parameters.json", "node_settings.json")}
    return [Contender(name, _read(folder) | written) for name, folder in _named(folders)]


def _named(folders: list[Path]) -> list[tuple[str, Path]]:
    """Each folder with its own name where that tells it from the others, else with as much of its path as does."""
    names = ["ours" if folder.resolve() == OURS else folder.resolve().name for folder in folders]
    return [(name if names.count(name) == 1 else str(folder), folder) for name, folder in zip(names, folders, strict=True)]


def _read(folder: Path) -> dict[str, bytes]:
    if not (folder / "on_create.sh").is_file():
        raise ValueError(f"{folder} holds no on_create.sh, so it is no bundle of lifecycle scripts")
    files = (path for path in folder.rglob("*") if path.is_file() and not {"__pycache__", ".git"} & set(path.parts))
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(files)}


def lay(s3: Any, bucket: str, contender: Contender) -> None:
    """Put a bundle where the nodes fetch their scripts, in the place of any other."""
    pages = s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=FOLDER)
    for key in [one["Key"] for page in pages for one in page.get("Contents", [])]:
        s3.delete_object(Bucket=bucket, Key=key)
    for name, content in contender.files.items():
        s3.put_object(Bucket=bucket, Key=f"{FOLDER}{name}", Body=content)
