"""On a worker: lets users in by ssh only while they have a job there (pam_slurm_adopt), where the cluster file asks for it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node.accounts import ADMINISTRATOR
from hyperpod_node.errors import NodeError
from hyperpod_node.managed_file import put
from hyperpod_node.system import System

if TYPE_CHECKING:
    from hyperpod_node.context import Context

MODULE = "pam_slurm_adopt.so"
SSHD, SESSION, OUR_SESSION = Path("/etc/pam.d/sshd"), Path("/etc/pam.d/common-session"), Path("/etc/pam.d/hyperpod-session")
ADMINISTRATORS = Path("/etc/security/hyperpod-administrators")
BEGIN, END = "# BEGIN hyperpod_node", "# END hyperpod_node"


def apply(context: Context, system: System) -> bool:
    """Put the module behind the other account checks of sshd; administrators (ubuntu, and users with sudo) pass before it."""
    if not context.settings.slurm.restrict_ssh:
        return False
    if not _has_module(system):
        raise NodeError(
            f"slurm.restrict_ssh needs {MODULE}, which this image does not have; use an image with it, or set it to false"
        )
    administrators = ["root", ADMINISTRATOR, *(user.name for user in context.settings.users if user.sudo)]
    put(system.path(ADMINISTRATORS), "".join(f"{name}\n" for name in administrators), mode=0o600)
    put(system.path(OUR_SESSION), _without_logind(system.path(SESSION).read_text()))
    put(system.path(SSHD), restricted(system.path(SSHD).read_text()))
    return True


def restricted(pam: str) -> str:
    """PAM's configuration of sshd with the check; the same when it has it already."""
    kept, inside = [], False
    for line in pam.splitlines():
        inside = (inside or line == BEGIN) and line != END
        if not inside and line != END:
            kept.append(line.replace("@include common-session", "@include hyperpod-session") if _is_session(line) else line)
    check = [
        BEGIN,
        f"account sufficient pam_listfile.so item=user sense=allow onerr=fail file={ADMINISTRATORS}",
        f"account required {MODULE}",
        END,
    ]
    return "\n".join([*kept, *check]) + "\n"


def _is_session(line: str) -> bool:
    return line.split() == ["@include", "common-session"]


def _without_logind(session: str) -> str:
    """common-session without pam_systemd, which would take a login out of the job that pam_slurm_adopt put it into."""
    return "".join(line for line in session.splitlines(keepends=True) if "pam_systemd.so" not in line)


def _has_module(system: System) -> bool:
    folders = ("lib/security", "lib/*/security", "usr/lib/security", "usr/lib/*/security")
    return any(True for folder in folders for _ in system.root.glob(f"{folder}/{MODULE}"))
