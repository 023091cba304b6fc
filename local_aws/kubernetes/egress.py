"""The API server's way to nodes and pods: a socket of the embedded AWS, because these have networks of their own."""

import hashlib
import json
import os
import socket
import struct
from pathlib import Path

_CREDENTIALS = struct.Struct("3i")


def name_of(folder: Path) -> str:
    """Return the name of the socket of the control plane in ``folder``: an abstract one, which any length of path allows."""
    return f"hyperpod-cdk/{hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:32]}"


def write_settings(folder: Path) -> Path:
    """Write the API server's settings for connections to nodes and pods, and return their path."""
    transport = {"uds": {"udsName": f"@{name_of(folder)}"}}
    selection = {"name": "cluster", "connection": {"proxyProtocol": "HTTPConnect", "transport": transport}}
    settings = {
        "apiVersion": "apiserver.k8s.io/v1beta1",
        "kind": "EgressSelectorConfiguration",
        "egressSelections": [selection],
    }
    path = folder / "egress.json"
    path.write_text(json.dumps(settings))  # JSON is YAML
    return path


def listen(folder: Path) -> socket.socket:
    """Listen for the API server of the control plane in ``folder``."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(b"\0" + name_of(folder).encode())
    listener.listen(64)
    return listener


def is_own(peer: socket.socket) -> bool:
    """Return whether the other end of a connection is a process of this user: an abstract socket has no permissions."""
    credentials = peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    uid: int = _CREDENTIALS.unpack(credentials)[1]
    return uid == os.getuid()
