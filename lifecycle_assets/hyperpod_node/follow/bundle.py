"""The bundles of scripts on this node: download, verify, keep the last two."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError
from hyperpod_node.system import CODE, System

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hyperpod_node.follow.aws import Aws
    from hyperpod_node.follow.pointer import Pointer

FOLDER = CODE / "bundles"
CURRENT = FOLDER / "current"  # a link to the bundle in use
STARTED = FOLDER / "started"  # the scripts that HyperPod started, while they run
PARAMETERS = ("provisioning_parameters.json", "slurm_groups.json")  # a bundle has one of them
_SHA256 = re.compile(r"[0-9a-f]{64}")
_NEW = ".new-"  # a run that was killed leaves such a folder


class BundleError(NodeError):
    """This node refuses the bundle."""


def digest(folder: Path) -> str:
    """Return the SHA-256 of a bundle, as the deployment calculates it."""
    total, parameters = hashlib.sha256(), []
    for name in _names(folder):
        content = (folder / name).read_bytes()
        if name in PARAMETERS:
            parameters.append(content)
            continue
        total.update(f"{name}\0{len(content)}\0".encode())
        total.update(content)
    if len(parameters) != 1:
        raise BundleError(f"the bundle has {len(parameters)} of the files {' and '.join(PARAMETERS)}, not one")
    try:
        canonical = json.dumps(json.loads(parameters[0]), sort_keys=True, separators=(",", ":"))
    except (ValueError, RecursionError):
        raise BundleError("the bundle's parameters are not JSON") from None
    of_parameters = hashlib.sha256(canonical.encode()).hexdigest()
    return hashlib.sha256(f"{total.hexdigest()}\n{of_parameters}".encode()).hexdigest()


def download(pointer: Pointer, aws: Aws, system: System) -> Path:
    """Return the folder with the pointer's bundle, which may be one of the last two; refuse it if the hash differs."""
    if existing := _existing(pointer.sha256, system):
        return existing
    with _new_folder(system) as new:
        for key in aws.keys(pointer.bucket, f"{pointer.prefix}/"):
            name = key.removeprefix(f"{pointer.prefix}/")
            if name and not name.endswith("/"):  # an empty object that marks a folder
                file = new / _checked(name)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(aws.object(pointer.bucket, key))
        found = digest(new)
        if found != pointer.sha256:
            raise BundleError(
                f"s3://{pointer.bucket}/{pointer.prefix} has the SHA-256 {found}, the bundle parameter {pointer.sha256}"
            )
        return _move(new, pointer.sha256, system)


def keep_started(scripts: Path, system: System) -> None:
    """Copy the scripts that HyperPod started, before other scripts can add files to their folder."""
    started = system.path(STARTED)
    shutil.rmtree(started, ignore_errors=True)
    started.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    shutil.copytree(scripts, started, ignore=shutil.ignore_patterns("__pycache__"))


def use_started(system: System) -> str:
    """Use the scripts that HyperPod started as the current bundle; return its SHA-256."""
    started = system.path(STARTED)
    sha256 = digest(started)
    _move(started, sha256, system)
    use(sha256, system)
    return sha256


def use(sha256: str, system: System) -> None:
    """Make a bundle the current one, and delete all others except the one before."""
    folder, link = system.path(FOLDER), system.path(CURRENT)
    before = link.readlink().name if link.is_symlink() else ""
    new = link.with_name(".current")
    new.unlink(missing_ok=True)
    new.symlink_to(sha256)
    new.replace(link)
    for other in folder.iterdir():
        is_old = _SHA256.fullmatch(other.name) and other.name not in (sha256, before)
        if is_old or other.name.startswith(_NEW):
            shutil.rmtree(other)


def _names(folder: Path) -> list[str]:
    paths = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return sorted(str(path) for path in paths if "__pycache__" not in path.parts)


def _checked(name: str) -> str:
    if name.startswith("/") or ".." in name.split("/") or "\0" in name:
        raise BundleError(f"the bundle has an object {name!r}, which is not a path in a folder")
    return name


def _move(folder: Path, sha256: str, system: System) -> Path:
    if existing := _existing(sha256, system):  # the agent may run from it
        shutil.rmtree(folder)
        return existing
    final = system.path(FOLDER) / sha256
    shutil.rmtree(final, ignore_errors=True)
    return folder.rename(final)


def _existing(sha256: str, system: System) -> Path | None:
    """Return the folder of a bundle if this node has it unchanged."""
    folder = system.path(FOLDER) / sha256
    try:
        return folder if folder.is_dir() and digest(folder) == sha256 else None
    except BundleError:
        return None


@contextmanager
def _new_folder(system: System) -> Iterator[Path]:
    """Yield a folder that only root can read; delete it unless it was moved."""
    parent = system.path(FOLDER)
    parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    new = Path(tempfile.mkdtemp(prefix=_NEW, dir=parent))
    try:
        yield new
    finally:
        if new.exists():
            shutil.rmtree(new)
