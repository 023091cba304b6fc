"""Install `hyperpod-precheck`, and note for it what this node ought to be."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node.managed_file import put
from hyperpod_node.precheck.facts import FILE, Facts

if TYPE_CHECKING:
    from hyperpod_node.context import Context

BUNDLE = Path(__file__).parents[2]
# The scripts lie in /tmp, which is emptied at the next boot: what has to stay is copied.
PARTS = ("hyperpod_precheck.py", "hyperpod_node")


@dataclass(frozen=True)
class Places:
    """Where the program goes."""

    code: Path = FILE.parent
    command: Path = Path("/usr/local/bin/hyperpod-precheck")


def apply(context: Context, places: Places = Places()) -> None:
    """Copy the code to where it outlives the scripts, and write the command that starts it."""
    for source in sorted(path for part in PARTS for path in _python_files(BUNDLE / part)):
        put(places.code / source.relative_to(BUNDLE), source.read_text())
    program = places.code / "hyperpod_precheck.py"
    # -B: its users may not write below /opt, and root's cached code must not outlive a new version.
    put(places.command, f'#!/bin/sh\nexec python3 -B {program} "$@"\n', mode=0o755)
    facts_of(context).save(places.code / FILE.name)


def facts_of(context: Context) -> Facts:
    """What this node ought to be."""
    return Facts(
        node=context.node.name,
        role=context.node.role,
        instance_type=context.instance_type,
        gpus=context.known.gpus if context.known else 0,
        file_system=bool(context.parameters.fsx_dns_name),
        users=tuple(user.name for user in context.settings.users),
    )


def _python_files(path: Path) -> list[Path]:
    return [path] if path.is_file() else list(path.rglob("*.py"))
