"""Install `hyperpod-precheck`, and save the facts about this node that it needs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node import homes
from hyperpod_node.accounts import ADMINISTRATOR
from hyperpod_node.managed_file import put
from hyperpod_node.precheck.checked_node import FACTS_FILE, Facts

if TYPE_CHECKING:
    from hyperpod_node.context import Context
    from hyperpod_node.system import System

BUNDLE = Path(__file__).parents[2]
# HyperPod downloads the scripts to /tmp, which the next boot empties.
PARTS = ("hyperpod_precheck.py", "hyperpod_node")
COMMAND = Path("/usr/local/bin/hyperpod-precheck")


def apply(context: Context, system: System) -> None:
    """Copy the code to a permanent folder, and write the command that starts it."""
    facts = system.path(FACTS_FILE)
    code = facts.parent
    for source in sorted(path for part in PARTS for path in _python_files(BUNDLE / part)):
        put(code / source.relative_to(BUNDLE), source.read_text())
    # -B: users cannot write below /opt, and root's bytecode cache must not outlive a new version.
    put(system.path(COMMAND), f'#!/bin/sh\nexec python3 -B {code / "hyperpod_precheck.py"} "$@"\n', mode=0o755)
    facts_of(context, system).save(facts)


def facts_of(context: Context, system: System) -> Facts:
    """Return the facts about this node."""
    administrator = (ADMINISTRATOR,) if system.accounts.user(ADMINISTRATOR) else ()
    return Facts(
        node=context.node.name,
        role=context.role,
        instance_type=context.node.instance_type,
        gpus=context.hardware.gpus if context.hardware else 0,
        file_system=bool(context.parameters.fsx_dns_name),
        homes=str(homes.folder(context)) if homes.shared(context.parameters) else None,
        users=(*(user.name for user in context.settings.users), *administrator),
    )


def _python_files(path: Path) -> list[Path]:
    return [path] if path.is_file() else list(path.rglob("*.py"))
