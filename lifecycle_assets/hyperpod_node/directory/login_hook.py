"""Let PAM start the preparation of a directory user's first login (hyperpod_node.login) at each session."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node import homes
from hyperpod_node.errors import NodeError
from hyperpod_node.managed_file import put
from hyperpod_node.node_settings import NONE
from hyperpod_node.provisioning_parameters import COMPUTE
from hyperpod_node.system import CODE

if TYPE_CHECKING:
    from hyperpod_node.context import Context
    from hyperpod_node.system import System

NAME = "hyperpod-directory"
COMMAND, PROFILE = Path("/usr/local/sbin/hyperpod-directory-login"), Path("/usr/share/pam-configs") / NAME
SESSION = Path("/etc/pam.d/common-session")
# Only as a session opens: at its end, PAM's environment may have variables from a file in the user's home, such as LD_PRELOAD,
# and PAM starts the command as root with them. A local user skips the command. `optional`: a login never fails because of it.
LINE = f"pam_exec.so quiet type=open_session {COMMAND}"
CONTENT = f"""\
Name: Home, SSH key and Slurm account of directory users
Default: yes
Priority: 0
Session-Type: Additional
Session-Interactive-Only: yes
Session:
	[success=1 default=ignore]	pam_localuser.so
	optional	{LINE}
"""
# No other variables, and no modules from outside the system and the script's folder.
SCRIPT = """\
#!/bin/sh
cd {folder} && exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin "PAM_TYPE=$PAM_TYPE" "PAM_USER=$PAM_USER" \\
    python3 -E -s -B -m hyperpod_node.login {options}
"""


def install(context: Context, system: System) -> None:
    """Write the command and add it to PAM's sessions."""
    node = context.node
    shared = " --shared-homes" if homes.shared(context.parameters) else ""
    slurm = " --slurm" if context.settings.accounting.database != NONE and context.role != COMPUTE else ""
    options = f"--cluster {context.cluster.cluster_name} --node {node.name}{shared}{slurm}"
    put(system.path(COMMAND), SCRIPT.format(folder=CODE, options=options), mode=0o755)
    put(system.path(PROFILE), CONTENT)
    _update(system, "--enable", "sss", NAME)
    if LINE not in system.path(SESSION).read_text():
        raise NodeError(
            f"{SESSION} is not changed by pam-auth-update, because it was edited; run `pam-auth-update --force` in the image"
        )


def remove(system: System) -> None:
    """Remove the command from PAM's sessions, and delete it."""
    if system.path(PROFILE).exists():
        _update(system, "--remove", NAME)
        system.path(PROFILE).unlink()
    system.path(COMMAND).unlink(missing_ok=True)


def _update(system: System, *arguments: str) -> None:
    system.run("pam-auth-update", "--package", *arguments, environment={"DEBIAN_FRONTEND": "noninteractive"})
