"""Restrict ssh to a worker to users with a job there (pam_slurm_adopt), if the cluster file requests it."""

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
    """Add the module after sshd's other account checks; administrators (ubuntu, and users with sudo) skip it."""
    if not context.settings.slurm.restrict_ssh:
        return _remove(system)
    if not _has_module(system):
        raise NodeError(
            f"slurm.restrict_ssh: this image does not have {MODULE}; use an image that has it, or set restrict_ssh to false"
        )
    administrators = ["root", ADMINISTRATOR, *(user.name for user in context.settings.users if user.sudo)]
    put(system.path(ADMINISTRATORS), "".join(f"{name}\n" for name in administrators), mode=0o600)
    put(system.path(OUR_SESSION), _without_logind(system.path(SESSION).read_text()))
    put(system.path(SSHD), restricted(system.path(SSHD).read_text()))
    return True


def _remove(system: System) -> bool:
    """Remove the check that an earlier cluster file requested; return whether there was one."""
    sshd = system.path(SSHD)
    if not sshd.exists() or BEGIN not in (pam := sshd.read_text()):
        return False
    lines = (line.replace("@include hyperpod-session", "@include common-session") for line in _without_check(pam))
    return put(sshd, "\n".join(lines) + "\n")


def restricted(pam: str) -> str:
    """Return sshd's PAM configuration with the check, which is replaced if it exists."""
    session = ("@include common-session", "@include hyperpod-session")
    kept = [line.replace(*session) if _is_session(line) else line for line in _without_check(pam)]
    check = [
        BEGIN,
        f"account sufficient pam_listfile.so item=user sense=allow onerr=fail file={ADMINISTRATORS}",
        f"account required {MODULE}",
        END,
    ]
    return "\n".join([*kept, *check]) + "\n"


def _without_check(pam: str) -> list[str]:
    kept, inside = [], False
    for line in pam.splitlines():
        inside = (inside or line == BEGIN) and line != END
        if not inside and line != END:
            kept.append(line)
    return kept


def _is_session(line: str) -> bool:
    return line.split() == ["@include", "common-session"]


def _without_logind(session: str) -> str:
    """Return common-session without pam_systemd, which would move a login out of the job of pam_slurm_adopt."""
    return "".join(line for line in session.splitlines(keepends=True) if "pam_systemd.so" not in line)


def _has_module(system: System) -> bool:
    folders = ("lib/security", "lib/*/security", "usr/lib/security", "usr/lib/*/security")
    return any(True for folder in folders for _ in system.root.glob(f"{folder}/{MODULE}"))
