"""What systemd-nspawn tells of a node it runs: who its first process is, and when it has booted."""

import os
import socket
import threading
from collections.abc import Callable

_END = b"END=1"


class Messages:
    """A socket in the manner of sd_notify. Its address is abstract: it lies in no folder and goes with the hub."""

    def __init__(self, heard: Callable[[dict[str, str]], None]) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(b"\0hyperpod-cdk/" + os.urandom(8).hex().encode())
        threading.Thread(target=self._listen, args=(heard,), daemon=True).start()

    @property
    def address(self) -> str:
        """The address as NOTIFY_SOCKET has it."""
        name: bytes = self._socket.getsockname()
        return "@" + name[1:].decode()

    def close(self) -> None:
        """Hear no more."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.sendto(_END, self._socket.getsockname())

    def _listen(self, heard: Callable[[dict[str, str]], None]) -> None:
        with self._socket:
            while (packet := self._socket.recv(4096)) != _END:
                heard(dict(line.split("=", 1) for line in packet.decode(errors="replace").splitlines() if "=" in line))
