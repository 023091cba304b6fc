"""A program on a node with this terminal, such as a shell."""

import socket
import struct
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from local_aws.builds.errors import HostError
from local_aws.nodes import protocol
from local_aws.nodes.client import ask

_LOGIN_SHELL = ("bash", "--login")


def enter(folder: Path, node_id: str, argv: Sequence[str] = ()) -> int:
    """Run ``argv``, or a login shell, as root on a node of the hub in ``folder``, and return its exit status.

    It inherits this process's standard input and output, and so its terminal.
    """
    entrance = ask(folder, "entrance", node_id)
    if not isinstance(entrance, list):
        raise HostError(f"the hub responded {entrance!r} instead of a command line")
    hub = ["nsenter", "-t", str(hub_pid(folder)), "-m", "-n", "-p", "-i", "--wd=/"]
    has_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    unit = ["systemd-run", "--quiet", "--pty" if has_terminal else "--pipe", "--wait", "--collect"]
    place = ["--setenv=HOME=/root", "--setenv=LANG=C.UTF-8", "--working-directory=/root", "--"]
    return subprocess.run([*hub, *entrance, *unit, *place, *(argv or _LOGIN_SHELL)], check=False).returncode


def hub_pid(folder: Path) -> int:
    """Return the pid of the hub's process on this machine; the kernel reports the listener at the other end of a socket."""
    with protocol.connect(folder) as client:
        credentials = client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    pid: int = struct.unpack("3i", credentials)[0]
    return pid
