"""Let only one of several controllers write the shared state. Runs in the keeper.

Slurm's controllers do not notice that another takes over while they are stopped or cut off: both would write. And when
the first one returns, Slurm 24.11 hands control back only after half a minute, while both write. The heartbeat file names the
controller that writes: two big-endian numbers, a time and the controller's place in slurm.conf.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from hyperpod_node.errors import NodeError
from hyperpod_node.retry import RetryPolicy, retry
from hyperpod_node.slurm.slurm_conf import SlurmConf

if TYPE_CHECKING:
    from pathlib import Path

    from hyperpod_node.system import System

REQUEST = "hyperpod-cdk-return"  # exists while a controller that starts waits for the one in control
TIMEOUT_S = 30
_HEARTBEAT = struct.Struct(">QQ")


class Heartbeat(NamedTuple):
    """When a controller wrote last, and its place in slurm.conf."""

    time: int
    place: int


@dataclass
class Handover:
    """Watches which controller writes the state in ``folder``; ``released`` is the last heartbeat before it gave control back."""

    folder: Path
    system: System
    seen: Heartbeat | None = None
    released: Heartbeat | None = None
    problem: str = ""

    def check(self) -> None:
        """Stop this node's slurmctld if another controller has taken over, or asks for control."""
        try:
            self._check()
            self.problem = ""
        except (OSError, NodeError) as error:
            if str(error) != self.problem:  # only once
                print(f"the writer of Slurm's state is unknown: {error}", flush=True)
            self.problem = str(error)

    def take_back(self) -> None:
        """Before slurmctld starts, ask a later controller in slurm.conf to give control back, and wait until it has."""
        own, last = self._own_place(), self._heartbeat()
        if own is None or last is None or last.place <= own:
            return
        request = self.folder / REQUEST
        request.touch()
        try:
            retry("the controller in control", lambda: _require_absence(request), RetryPolicy(TIMEOUT_S, clock=self.system.clock))
        except NodeError as error:
            print(f"warning: slurmctld starts while another controller may be in control: {error}", flush=True)
            request.unlink(missing_ok=True)

    def _check(self) -> None:
        before, now, is_asked = self.seen, self._heartbeat(), (self.folder / REQUEST).exists()
        if now is None or (now == before and not is_asked):
            return
        self.seen, own = now, self._own_place()
        if is_asked and now.place == own:
            self._give_back(now)
        elif before and before.place == own != now.place and before != self.released:
            # SIGTERM would make it save its state over the newer one. systemd starts it again.
            self.system.run("systemctl", "kill", "--signal=KILL", "slurmctld")
            print("killed slurmctld: another controller has taken over and writes the state", flush=True)

    def _give_back(self, last: Heartbeat) -> None:
        """Restart slurmctld, which saves its state and starts as a backup."""
        self.system.run("systemctl", "restart", "slurmctld", timeout_s=120)
        self.seen = self.released = self._heartbeat() or last
        (self.folder / REQUEST).unlink(missing_ok=True)
        print("gave control back to a controller that starts", flush=True)

    def _heartbeat(self) -> Heartbeat | None:
        """Return the last heartbeat; None if it is just being replaced."""
        try:
            content = (self.folder / "heartbeat").read_bytes()
        except FileNotFoundError:
            return None
        return Heartbeat(*_HEARTBEAT.unpack(content)) if len(content) == _HEARTBEAT.size else None

    def _own_place(self) -> int | None:
        hosts = [controller.name.split(".")[0] for controller in SlurmConf.parse(self.system.slurm_conf.read_text()).controllers]
        return hosts.index(self.system.host) if len(hosts) > 1 and self.system.host in hosts else None


def _require_absence(request: Path) -> None:
    if request.exists():
        raise NodeError(f"{request} still exists")
