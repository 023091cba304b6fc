"""A test node that mounts."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from hyperpod_node.errors import NodeError
from hyperpod_node.mount import FSTAB, HOST_MOUNTS, OWN_MOUNTS, UNITS, FstabEntry, mount
from hyperpod_node.shell import run
from tests.unit.hyperpod_node.fake_system import FakeSystem

OTHER_MOUNTS = "25 1 259:1 / / rw,relatime shared:1 - ext4 /dev/root rw\n"


@dataclass
class MountingMachine(FakeSystem):
    """A node whose first ``failures`` mounts fail.

    ``mounts`` says whether these scripts see what systemd mounts: "host" and "slave" do, "private" does not.
    """

    failures: int = 0
    lies: bool = False
    mounts: str = "slave"

    def __post_init__(self) -> None:
        self.fstab, self.units = self.path(FSTAB), self.path(UNITS)
        self.host_mounts, self.own_mounts = self.path(HOST_MOUNTS), self.path(OWN_MOUNTS)
        for mounts in (self.host_mounts, self.own_mounts):
            mounts.parent.mkdir(parents=True)
            mounts.write_text(OTHER_MOUNTS)
        self.fstab.parent.mkdir()
        self.run.programs |= {
            "systemctl": self._systemctl,
            "mount": self._mount,
            "/usr/bin/python3": self._python,
        }

    @property
    def fsx(self) -> FstabEntry:
        return FstabEntry("fs-1@tcp:/abc", Path("/fsx"), "lustre", "noatime")

    @property
    def starts(self) -> list[tuple[str, ...]]:
        """What systemd was asked to mount."""
        return [words for words in self.run.named("systemctl") if words[0] == "start"]

    def apply(self, *, nodes: int = 1) -> None:
        mount(self.fsx, node="worker-1", nodes=nodes, system=self.system)

    def _systemctl(self, arguments: tuple[str, ...], stdin: str | None) -> str:
        verb, unit = arguments[0], arguments[-1]
        if verb == "start" and self.lies:
            self._print(unit, "mount.lustre: Can't parse NID 'fs-1@tcp:/abc'")
        if verb != "start" or self.lies:
            return ""
        if self.failures:
            self._print(unit, f"mount.lustre: Input/output error {self.failures}")
            self.failures -= 1
            raise NodeError(f"`systemctl start {unit}` ended with status 1: Job for {unit} failed.")
        path = "/" + unit.removesuffix(".mount").replace("-", "/").replace("\\x2d", "-")
        for mounts in [self.host_mounts, *([self.own_mounts] if self.mounts != "private" else [])]:
            self._mount_in(mounts, path)
        return ""

    def _print(self, unit: str, line: str) -> None:
        """Print a line where the unit's drop-in says; journald loses which unit it is of."""
        drop_in = (self.path("/run/systemd/system") / f"{unit}.d" / "hyperpod-cdk.conf").read_text()
        with self.path(drop_in.partition("StandardOutput=append:")[2].split("\n")[0]).open("a") as file:
            file.write(f"{line}\n")

    def _mount(self, arguments: tuple[str, ...], stdin: str | None) -> str:
        self._mount_in(self.own_mounts, arguments[-1])
        return ""

    def _mount_in(self, mounts: Path, path: str) -> None:
        mounts.write_text(f"{OTHER_MOUNTS}90 25 0:44 / {path} rw,noatime shared:9 - lustre x rw\n")

    def _python(self, arguments: tuple[str, ...], stdin: str | None) -> str:
        return run(sys.executable, *arguments)
