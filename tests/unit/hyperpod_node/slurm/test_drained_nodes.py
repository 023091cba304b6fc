"""Which nodes that are drained or down the keeper resumes."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import pytest

from hyperpod_node.errors import NodeError
from hyperpod_node.slurm.drained_nodes import EVERY_S, DrainedNodes
from tests.unit.hyperpod_node.slurm.conftest import CONF
from tests.unit.hyperpod_node.slurm.slurm_machine import SLURM_CONF, SlurmMachine

LACKS = "gres/gpu count reported lower than configured (0 < 8)"
REBOOTED = "Node unexpectedly rebooted"
GPU_CONF = SLURM_CONF.replace("CPUs=192", "CPUs=192 Gres=gpu:8")


@dataclass
class Slurm:
    """What sinfo and scontrol say: of each drained node who drained it, why, and its state."""

    machine: SlurmMachine
    drained: dict[str, tuple[str, str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.machine.write(CONF, GPU_CONF)
        self.machine.answers("sinfo", lambda *_: "".join(f"{n}|{by}|{why}\n" * 2 for n, (by, why, _) in self.drained.items()))
        self.machine.answers("scontrol", self._scontrol)
        self.machine.answers("srun", lambda *_: "slurm daemon  ok\n")

    def _scontrol(self, arguments: tuple[str, ...], _: str | None) -> str:
        if arguments[0] in ("update", "reconfigure"):
            return ""
        by, why, state = self.drained[arguments[-1]]
        return f"NodeName={arguments[-1]} Gres=gpu:8 State={state} ThreadsPerCore=2 Reason={why} [{by}@2026-11-22T08:55:58] \n"

    def looks(self, keeping: DrainedNodes) -> list[str]:
        self.machine.time.clock.sleep(EVERY_S)
        return keeping.check()


@pytest.fixture
def slurm(machine: SlurmMachine) -> Slurm:
    return Slurm(machine)


@pytest.mark.parametrize("state", ["IDLE+DRAIN", "MIXED+CLOUD+DRAIN", "ALLOCATED+DRAIN"])
def test_only_a_node_that_has_registered_with_its_gpus_since_is_resumed(slurm: Slurm, state: str) -> None:
    slurm.drained = {"n1": ("slurm", LACKS, state), "n2": ("root", "disk", "IDLE+DRAIN")}
    assert slurm.looks(DrainedNodes(slurm.machine.system)) == ["n1"]
    assert slurm.machine.asked("scontrol", "update") == [("update", "NodeName=n1", "State=RESUME")]


@pytest.mark.parametrize("more", ["", f"{LACKS}, Low socket*core*thread count, "])
def test_a_node_that_had_the_memory_of_a_larger_type_in_slurm_conf_is_resumed(slurm: Slurm, more: str) -> None:
    why = f"{more}Low RealMemory (reported:15200 < 100.00% of configured:354877)"  # Slurm 24.11, validate_node_specs()
    slurm.machine.write(CONF, SLURM_CONF)
    slurm.drained = {"n1": ("slurm", why, "IDLE+DRAIN"), "n2": ("slurm", why, "IDLE+DRAIN+INVALID_REG")}
    assert slurm.looks(DrainedNodes(slurm.machine.system)) == ["n1"]


def test_a_node_that_stays_without_its_gpus_reads_the_configuration_again_a_few_times(slurm: Slurm) -> None:
    keeping, invalid = DrainedNodes(slurm.machine.system), ("slurm", LACKS, "IDLE+DRAIN+INVALID_REG")
    counts = []
    for state in (invalid, invalid, invalid, invalid, invalid, ("slurm", LACKS, "IDLE+DRAIN"), invalid, invalid):
        slurm.drained = {"n1": state, "n2": ("root", "disk", "IDLE+DRAIN+INVALID_REG")}
        slurm.looks(keeping)
        counts.append(len(slurm.machine.asked("scontrol", "reconfigure")))
    assert counts == [0, 1, 2, 3, 3, 3, 3, 4]


@pytest.mark.parametrize(
    "node",
    [
        ("slurm", LACKS, "IDLE+DRAIN+INVALID_REG"),  # it registers without its GPUs
        ("slurm", LACKS, "UNKNOWN+DRAIN"),  # slurmctld has restarted, and the node has not registered yet
        ("slurm", LACKS, "IDLE+DRAIN+NOT_RESPONDING"),
        ("slurm", LACKS, "DOWN+DRAIN"),
        ("slurm", LACKS, "IDLE+DRAIN+MAINTENANCE"),
        ("slurm", LACKS, "IDLE"),
        ("slurm", LACKS.replace("0 <", "7 <"), "IDLE+DRAIN"),  # a GPU was lost
        ("slurm", "Kill task failed", "IDLE+DRAIN"),
        ("slurm", f"{LACKS} and more", "IDLE+DRAIN"),
        ("slurm", REBOOTED, "DOWN+NOT_RESPONDING"),  # it went again
        ("slurm", REBOOTED, "DOWN*+CLOUD"),
        ("slurm", REBOOTED, "DOWN+DRAIN"),  # drained since
        ("slurm", REBOOTED, "DOWN+FAIL"),
        ("slurm", REBOOTED, "IDLE+DRAIN"),
        ("slurm", "Not responding", "DOWN"),
        ("slurm", "Not responding", "IDLE+DRAIN"),
        ("root", "Action:Replace", "DOWN"),  # HyperPod's
        ("root", REBOOTED, "DOWN"),
        ("root", LACKS, "IDLE+DRAIN"),  # written by a person
        ("root", "a|b", "IDLE+DRAIN"),
    ],
)
def test_all_other_nodes_stay_drained(slurm: Slurm, node: tuple[str, str, str]) -> None:
    slurm.drained = {"n1": node}
    keeping = DrainedNodes(slurm.machine.system)
    assert [slurm.looks(keeping), slurm.looks(keeping)] == [[], []]
    assert slurm.machine.asked("scontrol", "update") == []


def test_a_node_that_a_person_drained_stays_so_though_slurmctld_replaces_the_reason(slurm: Slurm) -> None:
    keeping = DrainedNodes(slurm.machine.system)
    slurm.drained = {"n1": ("root", "maintenance", "IDLE+DRAIN")}
    slurm.looks(keeping)
    slurm.drained = {"n1": ("slurm", LACKS, "IDLE+DRAIN")}
    assert slurm.looks(keeping) == []
    slurm.drained = {}  # the person resumes it
    slurm.looks(keeping)
    slurm.drained = {"n1": ("slurm", LACKS, "IDLE+DRAIN")}
    assert slurm.looks(keeping) == ["n1"]


@pytest.mark.parametrize("conf", [SLURM_CONF, GPU_CONF])
def test_a_node_that_rebooted_returns_once_its_precheck_passes(slurm: Slurm, conf: str) -> None:
    slurm.machine.write(CONF, conf)
    keeping, faults = DrainedNodes(slurm.machine.system), iter(["/fsx is not mounted"] * 2)

    def precheck(*_: object) -> str:
        if fault := next(faults, None):
            raise NodeError(fault)
        return ""

    slurm.machine.answers("srun", precheck)
    slurm.drained = {"n1": ("slurm", "Not responding", "DOWN+NOT_RESPONDING")}
    assert slurm.looks(keeping) == []
    slurm.drained = {"n1": ("slurm", REBOOTED, "DOWN+CLOUD"), "n2": ("root", "disk", "DOWN")}
    assert [slurm.looks(keeping) for _ in range(5)] == [[], [], [], ["n1"], []]  # at ever longer intervals
    assert slurm.machine.asked("scontrol", "update") == [("update", "NodeName=n1", "State=RESUME")]
    assert "--nodelist=n1" in slurm.machine.run.named("srun")[0]


def test_slurm_is_asked_every_five_seconds(slurm: Slurm) -> None:
    times: list[float] = []

    def sinfo(*_: object) -> str:
        times.append(slurm.machine.time.clock.now())
        if len(times) == 4:
            raise KeyboardInterrupt
        return ""

    slurm.machine.answers("sinfo", sinfo)
    with pytest.raises(KeyboardInterrupt):
        DrainedNodes(slurm.machine.system).watch()
    assert [later - before for before, later in itertools.pairwise(times)] == [EVERY_S] * 3


def test_a_slurmctld_that_does_not_answer_is_reported_once(slurm: Slurm, capsys: pytest.CaptureFixture[str]) -> None:
    slurm.machine.answers("sinfo", NodeError("Unable to contact slurm controller"))
    keeping = DrainedNodes(slurm.machine.system)
    assert [slurm.looks(keeping), slurm.looks(keeping)] == [[], []]
    assert capsys.readouterr().out.count("drained nodes are not checked: Unable to contact") == 1
