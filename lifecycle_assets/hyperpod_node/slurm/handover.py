"""Let only one of several controllers write the shared state. Runs in the keeper, in a thread: nothing may delay it.

Slurm's controllers do not notice that another takes over while they are stopped or cut off: both would write. And when
the first one returns, Slurm 24.11 hands control back only after half a minute, while both write. The heartbeat file names the
controller that writes: two big-endian numbers, a time and the controller's place in slurm.conf.
"""

from __future__ import annotations

import struct
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from hyperpod_node.errors import NodeError, problem_of
from hyperpod_node.slurm.slurm_conf import SlurmConf

if TYPE_CHECKING:
    from pathlib import Path

    from hyperpod_node.system import System

REQUEST = "hyperpod-cdk-return"  # exists while a controller that starts waits for the one in control
TIMEOUT_S = 30
RETRY_S = 600  # after a handover to a controller that then wrote nothing: it may fail at each start
EVERY_S = 1.0
DEFAULT_SLURMCTLD_TIMEOUT_S = 120
_HEARTBEAT = struct.Struct(">QQ")


class Heartbeat(NamedTuple):
    """When a controller wrote last, and its place in slurm.conf."""

    time: int
    place: int


@dataclass
class Handover:
    """Watches which controller writes the state in ``folder``.

    ``released`` is the last heartbeat before this controller gave control back; it ignores requests until ``keeps_until_s``.
    """

    folder: Path
    system: System
    seen: Heartbeat | None = None
    released: Heartbeat | None = None
    keeps_until_s: float = 0.0
    problem: str = ""

    def watch(self) -> None:
        """Check forever."""
        while True:
            self.check()
            self.system.clock.sleep(EVERY_S)

    def check(self) -> None:
        """Stop this node's slurmctld if another controller has taken over, or asks for control."""
        problem = ""
        try:
            self._check()
        except Exception as error:  # noqa: BLE001  no error may end the thread
            problem = problem_of(error, OSError)
        if problem not in ("", self.problem):  # only once
            print(f"the writer of Slurm's state is unknown: {problem}", flush=True)
        self.problem = problem

    def take_back(self) -> None:
        """Before slurmctld starts, ask a later controller in slurm.conf to give control back, and wait until it has."""
        own, last = self._own_place(), self._settled_heartbeat()
        if own is None or last is None or last.place <= own or self._is_stale(last):
            return
        request = self.folder / REQUEST
        request.touch()
        try:
            self.system.retry("the controller in control", lambda: _require_absence(request), TIMEOUT_S)
        except NodeError as error:
            print(f"warning: slurmctld starts while another controller may be in control: {error}", flush=True)
            request.unlink(missing_ok=True)

    def _check(self) -> None:
        request = self.folder / REQUEST
        before, now, is_asked = self.seen, self._heartbeat(), request.exists()
        if now is None or (now == before and not is_asked):
            return
        self.seen, own = now, self._own_place()
        if now.place != own:
            self.keeps_until_s = 0.0
        if is_asked and now == self.released:
            request.unlink(missing_ok=True)  # this controller is a backup already
        elif is_asked and now.place == own and self.system.clock.now() >= self.keeps_until_s:
            self._give_back(now)
        elif before and before.place == own != now.place and before != self.released:
            # SIGTERM would make it save its state over the newer one. systemd starts it again.
            self.system.run("systemctl", "kill", "--signal=KILL", "slurmctld")
            print("killed slurmctld: another controller has taken over and writes the state", flush=True)

    def _give_back(self, last: Heartbeat) -> None:
        """Restart slurmctld, which saves its state and starts as a backup; leave a stopped one stopped."""
        self.system.run("systemctl", "try-restart", "slurmctld", timeout_s=120)
        self.seen = self.released = self._heartbeat() or last
        self.keeps_until_s = self.system.clock.now() + RETRY_S
        (self.folder / REQUEST).unlink(missing_ok=True)
        print(f"gave control back to a controller that starts; if it writes nothing, not again for {RETRY_S} s", flush=True)

    def _is_stale(self, last: Heartbeat) -> bool:
        """Return whether the heartbeat is too old for a controller that still runs."""
        conf = SlurmConf(self.system.slurm_conf.read_text())  # with the managed block
        timeout = conf.value("SlurmctldTimeout") or ""
        return time.time() - last.time > (int(timeout) if timeout.isdigit() else DEFAULT_SLURMCTLD_TIMEOUT_S)

    def _settled_heartbeat(self) -> Heartbeat | None:
        """Return the last heartbeat; None if it is still missing after three attempts."""
        for _ in range(2):
            if last := self._heartbeat():
                return last
            self.system.clock.sleep(0.1)
        return self._heartbeat()

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
