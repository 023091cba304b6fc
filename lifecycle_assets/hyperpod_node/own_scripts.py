"""Run the scripts in a folder of `lifecycle.extra`. Loads on Python 3.7, which Amazon Linux 2 has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from hyperpod_node.system import System


def run_folder(folder: Path, environment: Mapping[str, str], system: System, timeout_s: float) -> bool:
    """Run the scripts in the order of their names, and return whether there are any; a failure fails the node."""
    files = sorted(file for file in folder.iterdir() if file.is_file() and file.name[0] not in "._") if folder.is_dir() else []
    end = system.clock.now() + timeout_s
    for file in files:
        name = f"{folder.parent.name}/{folder.name}/{file.name}"
        print(name, flush=True)
        try:
            left = _left(end, timeout_s, system)
            system.run(*command(file), environment=environment, timeout_s=left, show=True)
        except NodeError as error:
            raise NodeError(f"{name}: {error}") from None
    return bool(files)


def command(file: Path) -> list[str]:
    """Return the command that runs a script: by its #! line, or with bash; S3 does not keep the executable bit."""
    first = file.read_bytes()[:256].split(b"\n")[0].decode(errors="replace")
    interpreter = first[2:].split(maxsplit=1) if first.startswith("#!") else ["bash"]
    return [*interpreter, str(file)]


def _left(end: float, timeout_s: float, system: System) -> float:
    left = end - system.clock.now()
    if left <= 0:
        raise NodeError(f"no time is left: earlier scripts used the {timeout_s:g} s that all scripts of this folder share")
    return left
