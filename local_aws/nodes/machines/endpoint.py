"""The embedded AWS on each node's own loopback address, if the node's subnet has a route to AWS. Part of the hub's process."""

import ctypes
import os
import socket
import threading
from pathlib import Path

from local_aws.builds import relay
from local_aws.builds.errors import HostError
from local_aws.nodes.specs import ENDPOINT_PORT

_NAMESPACES = Path("/run/netns")
_CLONE_NEWNET = 0x40000000
_libc = ctypes.CDLL(None, use_errno=True)


def listen(node_id: str, folder: Path) -> socket.socket:
    """Listen in the network namespace of a node; connections go to the embedded AWS by a socket in ``folder``."""
    made: list[socket.socket | OSError] = []
    thread = threading.Thread(target=_listen_in, args=(_NAMESPACES / node_id, made))  # only this thread enters the namespace
    thread.start()
    thread.join()
    [listener] = made
    if isinstance(listener, OSError):
        raise HostError(f"node {node_id} has no way to the embedded AWS: {listener}")
    relay.serve(listener, lambda: relay.connect(folder))
    return listener


def _listen_in(namespace: Path, made: list[socket.socket | OSError]) -> None:
    try:
        with namespace.open() as file:
            if _libc.setns(file.fileno(), _CLONE_NEWNET):
                number = ctypes.get_errno()
                raise OSError(number, os.strerror(number))
        made.append(socket.create_server(("127.0.0.1", ENDPOINT_PORT), backlog=32))
    except OSError as error:
        made.append(error)
