"""Relay connections between sockets: the nodes' way to the embedded AWS, which listens outside their network namespaces."""

import errno
import os
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

SOCKET = "aws.sock"
API_SERVER, PODS = "kubernetes.sock", "pods.sock"  # nodes' way to the API server, and its way to nodes and pods
_CHUNK = 1 << 16
_CONNECT_S = 10.0
_PAUSE_S = 0.1
_CLOSED = (errno.EBADF, errno.EINVAL)


@contextmanager
def socket_path(folder: Path, name: str) -> Iterator[str]:
    """Yield a short path of a socket in ``folder``: the kernel allows 107 bytes at most, and folders can be longer."""
    handle = os.open(folder, os.O_PATH | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{handle}/{name}"
    finally:
        os.close(handle)


class Relay:
    """A socket in a hub's folder whose connections lead to the embedded AWS at ``endpoint``; exists until ``close``."""

    def __init__(self, folder: Path, endpoint: str, name: str = SOCKET) -> None:
        self._file = folder / name
        self._file.unlink(missing_ok=True)
        place = urlsplit(endpoint)
        self._listener = socket.socket(socket.AF_UNIX)
        with socket_path(folder, name) as path:
            self._listener.bind(path)
        self._listener.listen(128)
        serve(self._listener, lambda: socket.create_connection((place.hostname, place.port), _CONNECT_S))

    def close(self) -> None:
        """Accept no more connections."""
        close(self._listener)
        self._file.unlink(missing_ok=True)


def connect(folder: Path, name: str = SOCKET) -> socket.socket:
    """Connect to a socket in a hub's folder."""
    client = socket.socket(socket.AF_UNIX)
    try:
        with socket_path(folder, name) as path:
            client.connect(path)
    except OSError:
        client.close()
        raise
    return client


def serve(
    listener: socket.socket, connect: Callable[[], socket.socket], accepts: Callable[[socket.socket], bool] = lambda _: True
) -> None:
    """Relay each connection to ``listener`` that it ``accepts`` from now on, in the background, to a new one from ``connect``."""
    threading.Thread(target=_accept, args=(listener, connect, accepts), daemon=True).start()


def close(listener: socket.socket) -> None:
    """Close a listener, and wake up the thread that accepts its connections."""
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()


def _accept(listener: socket.socket, connect: Callable[[], socket.socket], accepts: Callable[[socket.socket], bool]) -> None:
    while True:
        try:
            peer, _ = listener.accept()
        except OSError as error:
            if error.errno in _CLOSED:
                return
            time.sleep(_PAUSE_S)  # for example, this process has no file descriptor left: the connection waits
            continue
        if accepts(peer):
            threading.Thread(target=_relay, args=(peer, connect), daemon=True).start()
        else:
            peer.close()


def _relay(peer: socket.socket, connect: Callable[[], socket.socket]) -> None:
    with peer:
        try:
            with connect() as other:
                copy(peer, other)
        except OSError:  # one of the two is gone: the other notices by the end of the connection
            return


def copy(one: socket.socket, other: socket.socket) -> None:
    """Copy both ways until both sides have ended."""
    targets = {one: other, other: one}
    while targets:
        for source in select.select(list(targets), [], [])[0]:
            data = source.recv(_CHUNK)
            if data:
                targets[source].sendall(data)
            else:
                targets.pop(source).shutdown(socket.SHUT_WR)
