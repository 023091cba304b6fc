"""A node with Slurm, made of a folder and a recorded run: systemd's units keep their state, other programs answer as told."""

from __future__ import annotations

import os
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

    def __post_init__(self) -> None:
        self.accounts.users = [Account(name, os.getuid(), os.getgid(), Path("/")) for name in ("root", "slurm")]
        self.run.programs |= {"systemctl": self._systemctl, "journalctl": lambda *_: "it complains\n"}

    def asked(self, program: str, *first: str) -> list[tuple[str, ...]]:
        return [arguments for arguments in self.run.named(program) if arguments[: len(first)] == first]

    def files(self) -> dict[str, bytes]:
        return {str(path.relative_to(self.root)): path.read_bytes() for path in sorted(self.root.rglob("*")) if path.is_file()}

    def _systemctl(self, arguments: tuple[str, ...], _: str | None) -> str:
        verb, unit = next(word for word in arguments if word[0] != "-"), arguments[-1]
        if verb == "show":
            state = self.units.get(unit, "inactive disabled").split()
            return f"LoadState=loaded\nActiveState={state[0]}\nUnitFileState={state[1]}\n"
        changes = {"restart": "active enabled", "mask": "inactive masked", "add-wants": "inactive enabled"}
        if verb in changes:
            self.units[unit] = changes[verb]
        return ""
