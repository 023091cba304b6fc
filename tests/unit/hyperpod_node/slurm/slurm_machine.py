"""A node with Slurm, made of a folder and a recorded run: systemd's units keep their state, other programs answer as told."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass, field, replace
from pathlib import Path

from hyperpod_node.accounts import Account
from hyperpod_node.context import Context
from hyperpod_node.node_settings import Accounting, InstanceType, Slurm, User
from hyperpod_node.resource_config import Instance
from tests.unit.hyperpod_node.a_node import a_context
from tests.unit.hyperpod_node.fake_system import FakeSystem

CONTROLLER = Instance("controller-machine-1", "10.1.0.4", "i-4", "controller-machine", "ml.c5.xlarge")
SECOND_CONTROLLER = Instance("controller-machine-2", "10.1.0.5", "i-5", "controller-machine", "ml.c5.xlarge")
WORKER = Instance("compute-nodes-1", "10.1.0.6", "i-6", "compute-nodes", "ml.p5.48xlarge")
SECRET = "arn:aws:secretsmanager:us-west-2:111122223333:secret:db"
LOCAL = Accounting("local", None, 3306, None)
EXTERNAL = Accounting("external", "db.example", 3306, SECRET)
PLAIN = Slurm(None, prolog_and_epilog=False, restrict_ssh=False, topology=None, setup="scripts", settings={}, partitions=())
IMAGES_SLURMD = "/opt/slurm/sbin/slurmd -D --conf-server 10.1.0.4"  # on AWS: hyperpod-mental-model.md
SLURM_CONF = """\
# written by the agent
ClusterName=demo
SlurmctldHost=ip-10-1-0-4(10.1.0.4)
SlurmUser=slurm
SlurmctldParameters=enable_configless
StateSaveLocation=/var/spool/slurmctld
include accounting.conf
NodeName=ip-10-1-0-6 NodeAddr=10.1.0.6 CPUs=192 RealMemory=2000000 State=UNKNOWN
PartitionName=dev Nodes=ALL Default=YES State=UP
"""
TWO_CONF = SLURM_CONF.replace(
    "SlurmctldHost=ip-10-1-0-4(10.1.0.4)\n", "SlurmctldHost=ip-10-1-0-4(10.1.0.4)\nSlurmctldHost=ip-10-1-0-5(10.1.0.5)\n"
)
UP = "Slurmctld(primary) at ip-10-1-0-4 is UP\n"
IDLE = "NodeName=ip-10-1-0-6 State=IDLE Version=24.11.5 BootTime=x SlurmdStartTime=2026-01-01T00:00:00"


def slurm_context(
    *,
    here: Instance = CONTROLLER,
    instances: tuple[Instance, ...] = (CONTROLLER, WORKER),
    accounting: Accounting = LOCAL,
    slurm: Slurm = PLAIN,
    types: dict[str, InstanceType] | None = None,
    users: tuple[User, ...] = (),
    bundle: Path = Path("/bundle"),
) -> Context:
    """What the Slurm steps of node ``here`` are told."""
    context = a_context(users=users, bundle=bundle, instances=(*(i for i in instances if i != here), here))
    known = context.settings.instance_types if types is None else types
    return replace(context, settings=replace(context.settings, accounting=accounting, slurm=slurm, instance_types=known))


@dataclass
class SlurmMachine(FakeSystem):
    """A node with systemd's units and the accounts of Slurm's daemons."""

    host: str = "ip-10-1-0-4"
    units: dict[str, str] = field(default_factory=dict)
    is_restarting: bool = False  # no daemon has a process when asked

    def __post_init__(self) -> None:
        self.accounts.users = [Account(name, os.getuid(), os.getgid(), Path("/")) for name in ("root", "slurm")]
        self.write("etc/systemd/system/slurmd.service", f"[Service]\nExecStart={IMAGES_SLURMD}\n")
        self.run.programs |= {"systemctl": self._systemctl, "journalctl": lambda *_: "it complains\n"}

    def asked(self, program: str, *first: str) -> list[tuple[str, ...]]:
        return [arguments for arguments in self.run.named(program) if arguments[: len(first)] == first]

    def files(self) -> dict[str, bytes]:
        return {str(path.relative_to(self.root)): path.read_bytes() for path in sorted(self.root.rglob("*")) if path.is_file()}

    def _systemctl(self, arguments: tuple[str, ...], _: str | None) -> str:
        verb, unit = next(word for word in arguments if word[0] != "-"), arguments[-1]
        if verb == "show":
            is_absent = unit == "sackd" and not self._unit_files(unit)
            active, enabled = self.units.get(unit, f"inactive {'not-found' if is_absent else 'disabled'}").split()
            own, *more = [f"/{file.relative_to(self.root)}" for file in self._unit_files(unit)] or [""]
            return (
                f"LoadState={enabled.replace('disabled', 'loaded')}\nActiveState={active}\nUnitFileState={enabled}\n"
                f"MainPID={0 if self.is_restarting else unit}\nExecStart={{ argv[]={self._command(unit)[0]} ; status=0 }}\n"
                f"FragmentPath={own}\nDropInPaths={' '.join(more)}\n"
            )
        if verb.endswith("restart"):
            self._start(unit)
        changes = {
            "restart": "active enabled",
            "mask": "inactive masked",
            "unmask": "inactive disabled",
            "add-wants": "inactive enabled",
        }
        if verb in changes:
            self.units[unit] = changes[verb]
        return ""

    def _unit_files(self, unit: str) -> list[Path]:
        if self.units.get(unit, "").endswith("masked"):
            return []
        own = [self.root / folder / "systemd/system" / f"{unit}.service" for folder in ("etc", "usr/lib")]
        return [*[file for file in own if file.exists()][:1], *sorted(own[0].with_name(f"{unit}.service.d").glob("*.conf"))]

    def command_line(self, unit: str) -> list[str]:
        return (self.root / f"proc/{unit}/cmdline").read_text().rstrip("\0").split("\0")

    def _command(self, unit: str) -> tuple[str, str]:
        text = "\n".join(file.read_text() for file in self._unit_files(unit)).replace("\\\n", " ")
        settings = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
        return settings.get("ExecStart", ""), settings.get("EnvironmentFile", "none")

    def _start(self, unit: str) -> None:
        """Give the process of the unit, whose id is the unit's name here, its command line, as systemd would."""
        command, options = self._command(unit)
        file = self.root / options.lstrip("/-")
        name, _, value = file.read_text().strip().partition("=") if file.exists() else ("-", "", "")
        self.write(f"proc/{unit}/cmdline", "\0".join([*shlex.split(command.replace(f"${name}", value)), ""]))
