"""Nodes to test with: a VPC with two file systems, and short ways to boot nodes and run scripts on them."""

import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from local_aws.nodes.hub import FileSystem, Hub, NodeSpec, Vpc

LUSTRE = "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com"
OPENZFS = "fs-0fedcba9876543210.fsx.us-west-2.amazonaws.com"


def vpc_with_file_systems(folder: Path) -> Vpc:
    systems = {
        LUSTRE: FileSystem("10.1.0.30", "abcdefgh", folder / "lustre"),
        OPENZFS: FileSystem("10.1.0.31", "fsx", folder / "openzfs", kind="openzfs"),
    }
    return Vpc("us-west-2", ("10.1.0.0/16", "10.2.0.0/16"), "10.1.0.2", systems)


@dataclass
class Nodes:
    """A hub and nodes to boot in it, each with an address and an id of its own."""

    hub: Hub
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(10))

    def spec(self, **changes: object) -> NodeSpec:
        number = next(self._numbers)
        fields: dict[str, object] = {"id": f"i-{number:017x}", "hostname": f"ip-10-1-4-{number}", "address": f"10.1.4.{number}"}
        return NodeSpec(**fields | changes)  # type: ignore[arg-type]  # a test's own fields

    def boot(self, **changes: object) -> NodeSpec:
        spec = self.spec(**changes)
        self.hub.boot(spec)
        return spec

    def sh(self, node: NodeSpec, script: str) -> list[str]:
        """The lines that a script prints; it must succeed."""
        lines, status = self.status(node, script)
        assert status == 0, lines
        return lines

    def status(self, node: NodeSpec, script: str) -> tuple[list[str], int]:
        lines: list[str] = []
        status = self.hub.run(node.id, "bash", "-c", script, on_line=lines.append, timeout_s=60)
        return lines, status


def comes(what: Callable[[], bool], within_s: float = 120) -> bool:
    """Whether something comes true in time that this process is not told of."""
    end = time.monotonic() + within_s
    while not (came := what()) and time.monotonic() < end:
        time.sleep(0.05)
    return came
