"""A hub that measures what happens on its nodes while a cluster comes up, and leaves the scripts as they are.

Times are the host's, which is the nodes' as well.
"""

import secrets
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from local_aws.builds.errors import HostError
from local_aws.nodes import cgroups
from local_aws.nodes.agent.files import SLURM_CONF
from local_aws.nodes.agent.node_start import UNIT
from local_aws.nodes.hub import Hub
from local_aws.nodes.shell import hub_pid
from local_aws.nodes.specs import NodeFile, NodeSpec, Vpc
from tests.bench.nodes import packets, process_accounting

# Tells by which number the kernel knows what starts the scripts, and at their end what all in their cgroup took. That starts
# no program. The journal has it, too, but only of units that took a second or more.
_AROUND = """
echo "{mark} $$"
"$@"
status=$?
read -r _ used <"/sys/fs/cgroup/system.slice/{unit}.service/cpu.stat" && echo "{mark} $used"
exit $status
"""
_WATCH = """
until (exec 3<>/dev/tcp/127.0.0.1/6817) 2>/dev/null; do sleep 0.1; done
while :; do date +%s.%N; sinfo --noheader --Node --format='%N %T'; sleep 0.25; done
"""
_SLURM = "/opt/slurm/bin:/opt/slurm/sbin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass
class Measured:
    """What was measured of one node."""

    id: str
    host: str
    address: str
    boot_from: float
    boot_to: float = 0.0
    script_from: float = 0.0
    script_to: float = 0.0
    objects: int = 0  # of the bundle, which HyperPod's agent fetches
    script_cpu_s: float = 0.0  # of the scripts and all they started, until they ended
    node_cpu_s: float = 0.0  # of all that ran on the node meanwhile: systemd, slurmd and its like
    script_pid: int = 0
    ended: bytes | None = None  # the kernel's accounts of all processes that ended meanwhile; None where it keeps none
    is_done: bool = False


@dataclass
class Bringup:
    """What was measured of one cluster."""

    nodes: dict[str, Measured] = field(default_factory=dict)
    idle: dict[str, float] = field(default_factory=dict)  # when Slurm first had a host as idle
    listens: float = 0.0  # when a controller first took connections
    asked: list[packets.Asked] = field(default_factory=list)
    has_listened: bool = False  # to what is asked, until the hub's end


class Told:
    """Numbers among the lines of a program, behind a mark; all else goes on to ``on_line``."""

    def __init__(self, on_line: Callable[[str], None] | None) -> None:
        self.mark = secrets.token_hex(8)
        self.numbers: list[int] = []
        self._on_line = on_line

    def hear(self, line: str) -> None:
        """Take a line. What a program said without ending its line stands before the mark."""
        said, mark, number = line.partition(self.mark)
        if mark:
            self.numbers.append(int(number))
        if self._on_line and (said or not mark):
            self._on_line(said)


class MeasuringHub(Hub):
    """A hub for one cluster that comes up once."""

    def __init__(self, folder: Path, image: Path, vpc: Vpc) -> None:
        super().__init__(folder, image, vpc)
        self.bringup = Bringup()
        self.lives = True
        self._tap: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Start the hub, and listen to its network."""
        super().start()
        self._hub_pid = hub_pid(self.folder)
        self._cgroup = cgroups.hierarchy() / cgroups.name_for(self.folder)
        (self.folder / "programs").mkdir()
        self._packets = self.folder / "packets"
        with self._packets.open("w") as output:
            self._tap = subprocess.Popen(
                ["nsenter", "-t", str(self._hub_pid), "-n", sys.executable, "-I", "-S", packets.__file__],
                stdin=subprocess.PIPE,  # closes with this process, however it ends
                stdout=output,
                text=True,
            )

    def boot(self, spec: NodeSpec) -> None:
        """Boot a node."""
        node = Measured(spec.id, spec.hostname, spec.address, time.time())
        self.bringup.nodes[spec.id] = node
        super().boot(spec)
        node.boot_to = time.time()
        if SLURM_CONF in spec.files:  # a controller
            threading.Thread(target=self._watch, args=(spec.id,), daemon=True).start()

    def put(self, node_id: str, files: Mapping[str, NodeFile]) -> None:
        """Lay files on a node."""
        node = self.bringup.nodes[node_id]
        if not node.script_from:
            node.objects = max(node.objects, len(files))  # the bundle; the agent's own files are fewer
        super().put(node_id, files)

    def run(
        self, node_id: str, *argv: str, unit: str | None = None, on_line: Callable[[str], None] | None = None, **options: Any
    ) -> int:
        """Run a program on a node; measure it where it is the lifecycle script."""

        def go(*command: str, tell: Callable[[str], None] | None = on_line) -> int:
            return super(MeasuringHub, self).run(node_id, *command, unit=unit, on_line=tell, **options)

        if unit != UNIT:
            return go(*argv)
        node = self.bringup.nodes[node_id]
        accounts, told = self._account(node_id), Told(on_line)
        before, node.script_from = self._cpu_s(node_id), time.time()
        status = go("sh", "-c", _AROUND.format(mark=told.mark, unit=UNIT), "sh", *argv, tell=told.hear)
        node.script_to, node.node_cpu_s = time.time(), self._cpu_s(node_id) - before
        node.ended = accounts.read_bytes() if accounts else None
        node.script_pid, used = told.numbers
        node.script_cpu_s, node.is_done = used / 1e6, True
        return status

    def end(self) -> None:
        """End the hub; what its nodes asked for is known then."""
        tap, self._tap = self._tap, None
        if tap:
            tap.communicate("")
            self.bringup.has_listened = tap.returncode == 0
            self.bringup.asked = packets.from_lines(self._packets.read_text().splitlines())
        super().end()
        self.lives = False

    def _account(self, node_id: str) -> Path | None:
        """Let the kernel keep accounts of a node's processes; the file, or None where it does not."""
        entrance, file = self._ask("entrance", node_id), self.folder / "programs" / node_id
        assert isinstance(entrance, list)
        return file if process_accounting.switch_on(self._hub_pid, str(entrance[2]), file) else None

    def _cpu_s(self, node_id: str) -> float:
        """The processor time that a node has taken so far, as its cgroup counts it: to the microsecond."""
        fields = dict(line.split() for line in (self._cgroup / node_id / "cpu.stat").read_text().splitlines())
        return int(fields["usage_usec"]) / 1e6

    def _watch(self, node_id: str) -> None:
        """Note when Slurm has which host as idle, asking it four times a second."""
        now = 0.0

        def look(line: str) -> None:
            nonlocal now
            host, _, state = line.partition(" ")
            if not state and line.replace(".", "").isdecimal():
                now = float(line)
                self.bringup.listens = self.bringup.listens or now
            elif state.strip() == "idle":
                self.bringup.idle.setdefault(host, now)

        try:
            super().run(node_id, "bash", "-c", _WATCH, environment={"PATH": _SLURM}, unit="bench-watch", on_line=look)
        except (HostError, OSError):
            return  # the cluster was deleted
