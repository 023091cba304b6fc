"""Notifications of systemd-nspawn about a node: its first process, and the end of its boot."""

import os
import socket
import threading
from collections.abc import Callable

_END = b"END=1"


class Messages:
    """A socket like sd_notify's. Its address is abstract: it needs no folder and disappears with the hub."""

    def __init__(self, heard: Callable[[dict[str, str]], None]) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(b"\0hyperpod-cdk/" + os.urandom(8).hex().encode())
        threading.Thread(target=self._listen, args=(heard,), daemon=True).start()

    @property
    def address(self) -> str:
        """Return the address for NOTIFY_SOCKET."""
        name: bytes = self._socket.getsockname()
        return "@" + name[1:].decode()

    def close(self) -> None:
        """Stop listening."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.sendto(_END, self._socket.getsockname())

    def _listen(self, heard: Callable[[dict[str, str]], None]) -> None:
        with self._socket:
            while (packet := self._socket.recv(4096)) != _END:
                heard(dict(line.split("=", 1) for line in packet.decode(errors="replace").splitlines() if "=" in line))
