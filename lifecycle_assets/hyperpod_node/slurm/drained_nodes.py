"""Resume nodes that slurmctld drained because they registered before the configuration named their hardware, or that rebooted.

Runs in the keeper. Slurm does not resume a node itself when it registers again with all its GPUs; and a slurmd that just
restarts can miss the message to read the configuration again. With ReturnToService 0 or 1, as on HyperPod, a node that rebooted
without a drain stays down. Those that HyperPod recovers have another reason, such as `Action:Replace`, and are not resumed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError
from hyperpod_node.slurm.slurm_conf import SlurmConf

if TYPE_CHECKING:
    from hyperpod_node.system import System

EVERY_S = 5.0
TIMEOUT_S, PRECHECK_TIMEOUT_S = 5.0, 60.0
PRECHECK = "/usr/local/bin/hyperpod-precheck"
# A new node has the others' sockets and memory until its own line has some.
_LOWER = r"(?:gres/gpu count reported lower than configured \(0 < \d+\)|Low (?:RealMemory|CPUs|socket\*core\*thread)\b[^,]*)"
_REASON = re.compile(rf"{_LOWER}(?:, {_LOWER})*")
_SILENT, _REBOOTED = "Not responding", "Node unexpectedly rebooted"  # the second replaces the first
_REASON_FIELD = re.compile(r"\bReason=(.*?) \[(\S+)@[^\]\s]+\]")
_REGISTERED = {"IDLE", "MIXED", "ALLOCATED"}
# DRAIN and flags without meaning for the node's health; INVALID_REG, the flag of a registration without GPUs, is not among them.
_FLAGS = {"DRAIN", "CLOUD", "COMPLETING", "RESERVED", "PLANNED"}
_INVALID = "INVALID_REG"
RECONFIGURATIONS = 3  # for each node: one whose GPUs are broken never registers with them


@dataclass
class DrainedNodes:
    """The nodes of the cluster that are drained or down.

    ``held`` are those that an administrator stopped, ``invalid`` those that registered without GPUs, and ``rebooted`` those that
    are down after a reboot, with the number of checks that found them so.
    """

    system: System
    held: set[str] = field(default_factory=set)
    invalid: dict[str, int] = field(default_factory=dict)
    rebooted: dict[str, int] = field(default_factory=dict)
    problem: str = ""

    def watch(self) -> None:
        """Resume nodes every five seconds, forever."""
        while True:
            self.check()
            self.system.clock.sleep(EVERY_S)

    def check(self) -> list[str]:
        """Resume nodes; return their names."""
        try:
            resumed, self.problem = self._resume(), ""
        except (NodeError, OSError) as error:  # the agent may replace slurm.conf at this moment
            if str(error) != self.problem:  # only once
                print(f"drained nodes are not checked: {error}", flush=True)
            resumed, self.problem = [], str(error)
        return resumed

    def _resume(self) -> list[str]:
        conf = SlurmConf.parse(self.system.slurm_conf.read_text()) if self.system.slurm_conf.exists() else SlurmConf("")
        drained, user = self._drained(), conf.value("SlurmUser") or "root"
        # slurmctld replaces an administrator's reason with its own, so only an earlier check can tell who drained a node.
        self.held = {name for name, (by, why) in drained.items() if name in self.held or not _is_slurms(by, why, user)}
        flags = {name: self._flags(name, user) for name, (_, why) in drained.items() if name not in self.held and why != _SILENT}
        self.rebooted = {name: looks for name, looks in self.rebooted.items() if "DOWN" in flags.get(name, ())}
        ready = [
            name for name, found in flags.items() if found and _FLAGS.issuperset(found - {"DOWN"}) and self._passes(name, found)
        ]
        for name in ready:
            self.system.slurm("scontrol", "update", f"NodeName={name}", "State=RESUME", timeout_s=TIMEOUT_S)
            print(f"resumed {name}, which slurmctld stopped: {drained[name][1]}", flush=True)
        self._reconfigure_for([name for name, found in flags.items() if _INVALID in found])
        return ready

    def _passes(self, name: str, flags: set[str]) -> bool:
        """Return whether a node is not down, or passes hyperpod-precheck, which runs at ever longer intervals."""
        if "DOWN" not in flags:
            return True
        looks = self.rebooted[name] = self.rebooted.get(name, 0) + 1
        if looks & (looks - 1):
            return False
        try:  # outside an allocation, where cgroups can hide GPUs: no check opens one
            self.system.slurm("srun", "--no-allocate", f"--nodelist={name}", "--chdir=/", PRECHECK, timeout_s=PRECHECK_TIMEOUT_S)
        except NodeError as error:
            print(f"{name} rebooted and stays down: {error}", flush=True)
            return False
        return True

    def _reconfigure_for(self, invalid: list[str]) -> None:
        """Make slurmds read the configuration again if nodes have been without GPUs since the last check or longer."""
        late = [name for name in invalid if 1 <= self.invalid.get(name, 0) <= RECONFIGURATIONS]
        self.invalid = {name: self.invalid.get(name, 0) + 1 for name in invalid}
        if late:
            print(f"{', '.join(late)} registered without GPUs: reconfiguring", flush=True)
            self.system.slurm("scontrol", "reconfigure", timeout_s=TIMEOUT_S)

    def _drained(self) -> dict[str, tuple[str, str]]:
        """Return who stopped each node that is drained or down, and why."""
        form = ("--noheader", "--Node", "--states=drain,down", "--format=%N|%u|%E")
        lines = (line.split("|", 2) for line in self.system.slurm("sinfo", *form, timeout_s=TIMEOUT_S).splitlines())
        return {line[0].strip(): (line[1].strip(), line[2].strip()) for line in lines if len(line) == 3}

    def _flags(self, name: str, user: str) -> set[str]:
        """Return the state flags of a registered node that is stopped only for missing GPUs, or DOWN for a reboot; else none."""
        output = self.system.slurm("scontrol", "--oneliner", "show", "node", name, timeout_s=TIMEOUT_S)
        state, reason = re.search(r"\bState=(\S+)", output), _REASON_FIELD.search(output)
        if not state or not reason or not _is_slurms(reason[2], reason[1], user):
            return set()
        base, *flags = state[1].split("+")
        if (base, reason[1]) == ("DOWN", _REBOOTED) and "DRAIN" not in flags:
            return {base, *flags}
        return set(flags) if base in _REGISTERED and "DRAIN" in flags and _REASON.fullmatch(reason[1]) else set()


def _is_slurms(by: str, why: str, user: str) -> bool:
    return by == user and (why in (_SILENT, _REBOOTED) or _REASON.fullmatch(why) is not None)
