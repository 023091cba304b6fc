"""Who writes files in a folder that nodes share: the kernel tells this machine of each write, with its process."""

import ctypes
import os
import re
import select
import struct
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

_EVENT = struct.Struct("=IBBHQii")  # fanotify_event_metadata
_MODIFY, _CLOSE_WRITE, _ON_CHILD = 0x2, 0x8, 0x08000000
_ADD, _AT_FDCWD = 0x1, -100
_NODE = re.compile(r"/(i-[0-9a-f]{17})(?:/|$)", re.MULTILINE)
_libc = ctypes.CDLL(None, use_errno=True)


@dataclass
class Writers:
    """A record of writes to the files directly in ``folder`` but ``ignored``: when, by which node, in which file."""

    folder: Path
    ignored: frozenset[str] = frozenset()
    writes: list[tuple[float, str, str]] = field(default_factory=list)
    _nodes: dict[int, str] = field(default_factory=dict)
    _end: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> "Writers":
        self._descriptor = _libc.fanotify_init(0, os.O_RDONLY)
        mask = ctypes.c_uint64(_MODIFY | _CLOSE_WRITE | _ON_CHILD)
        if self._descriptor < 0 or _libc.fanotify_mark(self._descriptor, _ADD, mask, _AT_FDCWD, bytes(self.folder)) < 0:
            raise OSError(ctypes.get_errno(), f"fanotify: {os.strerror(ctypes.get_errno())}")
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()
        os.close(self._descriptor)

    def since(self, start: float) -> list[str]:
        """The nodes that have written since then, in order, each as often as the writer changed."""
        nodes = [node for when, node, _ in self.writes if when >= start]
        return [node for place, node in enumerate(nodes) if place == 0 or nodes[place - 1] != node]

    def _listen(self) -> None:
        while not self._end.is_set():
            if select.select([self._descriptor], [], [], 0.1)[0]:
                self._read(os.read(self._descriptor, 1 << 16))

    def _read(self, events: bytes) -> None:
        while events:
            length, _, _, _, _, descriptor, pid = _EVENT.unpack_from(events)
            name = os.path.basename(os.readlink(f"/proc/self/fd/{descriptor}"))  # noqa: PTH119, PTH115  it may be deleted
            os.close(descriptor)
            if name not in self.ignored:
                self.writes.append((time.monotonic(), self._node(pid), name))
            events = events[length:]

    def _node(self, pid: int) -> str:
        if pid not in self._nodes:
            try:
                found = _NODE.search(Path(f"/proc/{pid}/cgroup").read_text())
            except (FileNotFoundError, ProcessLookupError):
                found = None
            self._nodes[pid] = found[1] if found else f"process {pid}"
        return self._nodes[pid]
