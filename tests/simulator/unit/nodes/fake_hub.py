"""A hub without machines, which notes what is asked of it."""

import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from local_aws.builds.errors import HostError
from local_aws.nodes.hub import Hub
from local_aws.nodes.specs import NodeFile, NodeSpec, Vpc


class FakeHub(Hub):
    """Does nothing, quickly; a boot waits for ``may_boot``."""

    def __init__(self, folder: Path, vpc: Vpc) -> None:
        super().__init__(folder, folder, vpc)
        self.said: list[str] = []
        self.events: list[object] = []  # all that reaches a node
        self.commands: list[tuple[str, ...]] = []
        self.files: dict[str, dict[str, str]] = {}
        self.may_boot, self.is_booting = threading.Event(), threading.Event()
        self.may_boot.set()
        self.down: set[str] = set()
        self.prints: tuple[str, ...] = ()
        self.status = 0

    def start(self) -> None:
        self.said.append("start")

    def boot(self, spec: NodeSpec) -> None:
        self.events.append(spec)
        self.is_booting.set()
        self.may_boot.wait(10)
        self.said.append(f"boot {spec.id}")
        self.put(spec.id, spec.files)

    def name(self, node_id: str) -> None:
        self.said.append(f"name {node_id}")

    def put(self, node_id: str, files: Mapping[str, NodeFile]) -> None:
        self.events.append((node_id, files))
        if node_id in self.down:
            raise HostError(f"node {node_id} is stopped, not running")
        self.files.setdefault(node_id, {}).update({path: file.content.decode() for path, file in files.items()})

    def run(self, node_id: str, *argv: str, on_line: Callable[[str], None] | None = None, **more: Any) -> int:
        self.events.append((node_id, argv, more))
        self.said.append(f"run {argv[0]} on {node_id}")
        self.commands.append(argv)
        text = self.files.get(node_id, {}).get(argv[-1]) if argv[0] == "cat" else None
        for line in self.prints if text is None else text.splitlines():
            if on_line:
                on_line(line)
        return self.status

    def stop(self, node_id: str) -> None:
        self.said.append(f"stop {node_id}")
        self.files.pop(node_id, None)
        self.may_boot.set()

    def end(self) -> None:
        self.said.append("end")
