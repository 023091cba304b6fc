"""The rules that keep the metadata service for administrators: whether they are loaded, and whether they keep users out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError

if TYPE_CHECKING:
    from hyperpod_node.system import System

PROBE_TIMEOUT_S = 10.0
TABLE, UNIT = "hyperpod_metadata", "hyperpod-metadata"
OPEN = "open"
"""The state of the service on a node whose users reach the metadata service, although its rules are loaded."""

OPEN_NODE = "all users of this node can use the node role"
# Run as the user `nobody`: prints each address that answers. The rules refuse at once.
PROBE = """\
import socket, sys
for host, port in (("169.254.169.254", 80), ("169.254.0.2", 9081), ("fd00:ec2::254", 80)):
    try:
        socket.create_connection((host, port), 1).close()
    except OSError:
        continue
    print(host)
"""


def is_open(system: System) -> bool:
    """Return whether users reach the metadata service, with a warning; first load rules again that are gone or do nothing."""
    reached = _reached(system)
    if reached or not system.succeeds("nft", "list", "table", "inet", TABLE):
        print("warning: the rules of the metadata service are gone or do nothing, and are loaded again")
        system.succeeds("systemctl", "restart", f"{UNIT}.service")  # otherwise systemd calls it failed
        reached = _reached(system)
    if reached:
        print(f"warning: {OPEN_NODE}: {', '.join(reached)} answers them in spite of the rules of {UNIT}")
    return bool(reached)


def _reached(system: System) -> list[str]:
    """Return the addresses of the service at which a user gets an answer."""
    as_nobody = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
    try:
        return system.run(*as_nobody, "python3", "-I", "-c", PROBE, timeout_s=PROBE_TIMEOUT_S).split()
    except NodeError as error:
        print(f"warning: who reaches the metadata service is unknown: {error}")
        return []
