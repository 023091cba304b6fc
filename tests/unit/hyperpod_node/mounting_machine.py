"""A test node that mounts."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from hyperpod_node.errors import NodeError
from hyperpod_node.mount import Mount, System, mount
from tests.unit.hyperpod_node.manual_time import ManualTime
from tests.unit.hyperpod_node.recorded_run import RecordedRun

OTHER_MOUNTS = "25 1 259:1 / / rw,relatime shared:1 - ext4 /dev/root rw\n"


@dataclass
class Machine:
    """A node whose mount program fails as often as it is told to, and whose disk is a folder."""

    folder: Path
    failures: int = 0
    lies: bool = False
    time: ManualTime = field(default_factory=ManualTime)
    run: RecordedRun = field(default_factory=RecordedRun)

    def __post_init__(self) -> None:
        self.fstab = self.folder / "fstab"
        self.mountinfo = self.folder / "mountinfo"
        self.mountinfo.write_text(OTHER_MOUNTS)
        self.run.programs |= {"mount": self._mount, "tee": self._tee, "cat": self._cat, "rm": self._rm}

    @property
    def system(self) -> System:
        return System(self.fstab, self.folder / "units", self.mountinfo, self.time.clock, self.run)

    @property
    def fsx(self) -> Mount:
        return Mount("fs-1@tcp:/abc", self.folder / "fsx", "lustre", "noatime")

    def apply(self, *, nodes: int = 1) -> None:
        mount(self.fsx, node="worker-1", nodes=nodes, system=self.system)

    def _mount(self, arguments: tuple[str, ...], stdin: str | None) -> str:
        if self.lies:
            return "mount.lustre: Can't parse NID 'fs-1@tcp:/abc'\n"
        if self.failures:
            self.failures -= 1
            raise NodeError("Input/output error")
        self.mountinfo.write_text(f"{OTHER_MOUNTS}90 25 0:44 / {arguments[0]} rw,noatime shared:9 - lustre x rw\n")
        return ""

    def _tee(self, arguments: tuple[str, ...], stdin: str | None) -> str:
        Path(arguments[0]).write_text(stdin or "")
        return ""

    def _cat(self, arguments: tuple[str, ...], stdin: str | None) -> str:
        return Path(arguments[0]).read_text()

    def _rm(self, arguments: tuple[str, ...], stdin: str | None) -> str:
        Path(arguments[0]).unlink()
        return ""
