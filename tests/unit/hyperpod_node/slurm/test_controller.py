"""The steps of a controller, up to a slurmctld that answers."""

from __future__ import annotations

import stat
from dataclasses import replace
from pathlib import Path

import pytest

from hyperpod_node.context import Context
from hyperpod_node.errors import NodeError
from hyperpod_node.steps import accounting, munge, slurm_controller
from tests.unit.hyperpod_node.a_node import user
from tests.unit.hyperpod_node.slurm.conftest import CONF
from tests.unit.hyperpod_node.slurm.slurm_machine import (
    CONTROLLER,
    PLAIN,
    SECOND_CONTROLLER,
    SLURM_CONF,
    TWO_CONF,
    WORKER,
    SlurmMachine,
    slurm_context,
)

DATA = Path(__file__).parents[3] / "data/slurm"


PLACEHOLDER = SLURM_CONF.replace("ip-10-1-0-4(10.1.0.4)", "localhost")


@pytest.mark.fault(65)
@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (None, r"slurm\.conf: gave up after .*HyperPod's agent"),
        ("# not finished\nClusterName=demo\n", r"slurm\.conf: gave up after .*HyperPod's agent"),
        (PLACEHOLDER, r"SlurmctldHost lines for \['localhost'\] but not for the controllers \['10\.1\.0\.4'\]"),
    ],
    ids=["missing", "not finished", "without this controller"],
)
def test_a_slurm_conf_that_does_not_come_is_an_error_with_a_bound(tmp_path: Path, content: str | None, problem: str) -> None:
    machine = SlurmMachine(tmp_path)
    if content is not None:
        machine.write(CONF, content)
    with pytest.raises(NodeError, match=problem):
        slurm_controller.apply_configuration(slurm_context(), machine.system)
    assert 500 < machine.time.now_s <= slurm_controller.AGENT_TIMEOUT_S
    assert content is None or (tmp_path / CONF).read_text() == content


@pytest.mark.parametrize("before", [None, PLACEHOLDER], ids=["missing", "without this controller"])
def test_a_slurm_conf_that_comes_late_is_waited_for(tmp_path: Path, before: str | None) -> None:
    machine = SlurmMachine(tmp_path)
    if before is not None:
        machine.write(CONF, before)

    def pause(_: float) -> None:
        machine.write(CONF, SLURM_CONF)

    slurm_controller.apply_configuration(slurm_context(), replace(machine.system, clock=replace(machine.time.clock, sleep=pause)))
    assert "AccountingStorageHost=10.1.0.4" in (tmp_path / CONF).read_text()


def test_a_controller_is_known_by_its_host_name_as_well(tmp_path: Path) -> None:
    machine = SlurmMachine(tmp_path, host="head")
    machine.write(CONF, SLURM_CONF.replace("ip-10-1-0-4(10.1.0.4)", "head"))
    slurm_controller.apply_configuration(slurm_context(), machine.system)
    assert machine.time.pauses == []


@pytest.mark.fault(66)
def test_the_configuration_is_written_once_and_keeps_the_agents_owner_and_mode(machine: SlurmMachine) -> None:
    context = slurm_context(slurm=replace(PLAIN, prolog_and_epilog=True, topology="SwitchName=a Nodes=ip-10-1-0-6\n"))
    (machine.root / CONF).chmod(0o640)
    slurm_controller.apply_configuration(context, machine.system)
    after = machine.files()
    slurm_controller.apply_configuration(context, machine.system)
    assert machine.files() == after
    assert stat.S_IMODE((machine.root / CONF).stat().st_mode) == 0o640
    etc = machine.root / "opt/slurm/etc"
    assert "Type=h100" in (etc / "gres.conf").read_text()
    assert "SwitchName=a" in (etc / "topology.conf").read_text()
    assert "NodeName=DEFAULT Sockets=2" in (etc / "accounting.conf").read_text()


def test_other_files_are_unchanged_and_ours_are_removed_when_unwanted(machine: SlurmMachine) -> None:
    theirs = machine.write("opt/slurm/etc/gres.conf", "AutoDetect=nvml\n")
    topology = replace(PLAIN, topology="SwitchName=a Nodes=ip-10-1-0-6\n")
    slurm_controller.apply_configuration(slurm_context(slurm=topology), machine.system)
    slurm_controller.apply_configuration(slurm_context(), machine.system)
    assert theirs.read_text() == "AutoDetect=nvml\n"
    assert not (machine.root / "opt/slurm/etc/topology.conf").exists()


def test_an_included_file_is_never_left_empty_because_all_commands_would_complain(machine: SlurmMachine) -> None:
    slurm_controller.apply_configuration(slurm_context(types={}), machine.system)
    assert (machine.root / "opt/slurm/etc/accounting.conf").read_text().startswith("#")


def test_what_the_image_wrote_into_the_included_file_stays(machine: SlurmMachine) -> None:
    included = machine.write("opt/slurm/etc/accounting.conf", "AccountingStorageHost=localhost\n")
    for _ in range(2):
        slurm_controller.apply_configuration(slurm_context(), machine.system)
    first, header, line = included.read_text().splitlines()
    assert first == "AccountingStorageHost=localhost"
    assert header.startswith("# written by hyperpod_node")
    assert line.startswith("NodeName=DEFAULT Sockets=2")


def test_a_topology_that_does_not_fit_is_not_used_and_a_warning_says_why(
    machine: SlurmMachine, capsys: pytest.CaptureFixture[str]
) -> None:
    slurm_controller.apply_configuration(slurm_context(slurm=replace(PLAIN, topology="SwitchName=a Nodes=x\n")), machine.system)
    assert "warning: slurm.topology is not used: it lacks ip-10-1-0-6" in capsys.readouterr().out
    assert "TopologyPlugin" not in (machine.root / CONF).read_text()


def test_a_controller_of_which_slurm_conf_does_not_know_is_not_started(machine: SlurmMachine) -> None:
    context = slurm_context(instances=(CONTROLLER, SECOND_CONTROLLER, WORKER))
    with pytest.raises(NodeError, match=r"\['ip-10-1-0-4\(10\.1\.0\.4\)'\] but not for the controllers \['10\.1\.0\.5'\]"):
        slurm_controller.apply_configuration(context, machine.system)


def test_munge_runs_with_the_clusters_key_and_without_it_nothing_continues(machine: SlurmMachine) -> None:
    munge.apply(slurm_context(), machine.system)
    assert machine.units["munge"] == "active enabled"
    (machine.root / "etc/munge/munge.key").unlink()
    with pytest.raises(NodeError, match=r"munge\.key is missing; HyperPod's agent writes it"):
        munge.apply(slurm_context(), machine.system)
    assert 500 < machine.time.now_s <= slurm_controller.AGENT_TIMEOUT_S


def test_a_key_that_the_agent_has_yet_to_write_is_waited_for(machine: SlurmMachine) -> None:
    key = machine.root / "etc/munge/munge.key"
    key.rename(key.with_name("later"))

    def agent_writes(_: float) -> None:
        key.with_name("later").rename(key)

    munge.apply(slurm_context(), replace(machine.system, clock=replace(machine.time.clock, sleep=agent_writes)))
    assert machine.units["munge"] == "active enabled"


def start_all(machine: SlurmMachine, context: Context) -> None:
    for apply in (slurm_controller.apply_configuration, accounting.apply, slurm_controller.apply):
        apply(context, machine.system)


@pytest.mark.fault(75)
def test_the_database_knows_the_cluster_before_slurmctld_first_starts(machine: SlurmMachine, bundle: Path) -> None:
    start_all(machine, slurm_context(bundle=bundle, users=(user("alice"), user("bob", 4002))))
    commands = [" ".join(command) for command in machine.run.commands]
    order = [
        "systemctl restart mariadb",
        "systemctl restart slurmdbd",
        "sacctmgr --immediate add cluster demo",
        "sacctmgr --immediate add user alice,bob account=default cluster=demo",
        "systemctl restart slurmctld",
    ]
    assert [command for command in commands if command in order] == order


@pytest.mark.fault(66)
def test_a_second_run_changes_no_file_and_restarts_nothing(machine: SlurmMachine, bundle: Path) -> None:
    def known(arguments: tuple[str, ...], _: str | None) -> str:
        return "demo\n" if "cluster" in arguments else "root|\nroot|root\ndefault|\ndefault|alice\n"

    context = slurm_context(bundle=bundle, users=(user("alice"),))
    start_all(machine, context)
    after = machine.files()
    machine.answers("sacctmgr", known)
    machine.run.commands.clear()
    start_all(machine, context)
    assert machine.files() == after
    verbs = {arguments[0] for arguments in machine.run.named("systemctl")}
    assert verbs == {"show"}
    assert not machine.asked("sacctmgr", "--immediate")


def test_a_changed_configuration_restarts_slurmctld(machine: SlurmMachine, bundle: Path) -> None:
    start_all(machine, slurm_context(bundle=bundle))
    machine.run.commands.clear()
    start_all(machine, slurm_context(bundle=bundle, slurm=replace(PLAIN, restrict_ssh=True)))
    assert machine.asked("systemctl", "restart", "slurmctld")
    assert not machine.asked("systemctl", "restart", "slurmdbd")


@pytest.mark.fault(71)
def test_slurmd_never_runs_on_a_controller(machine: SlurmMachine, bundle: Path) -> None:
    unit = machine.write("etc/systemd/system/slurmd.service", "[Service]\n")
    start_all(machine, slurm_context(bundle=bundle))
    assert machine.units["slurmd"].endswith("masked")
    assert not unit.exists()  # systemd refuses to mask a unit whose file is here


@pytest.mark.fault(69)
def test_a_database_of_an_older_cluster_is_reported_with_a_fix_and_nothing_is_removed(
    machine: SlurmMachine, bundle: Path
) -> None:
    state = machine.write("var/spool/slurmctld/clustername", "demo|7")
    machine.answers("scontrol", "Slurmctld(primary) at ip-10-1-0-4 is DOWN")
    machine.answers("journalctl", (DATA / "cluster_id_mismatch.txt").read_text())
    with pytest.raises(NodeError, match=r"CLUSTER ID MISMATCH.* delete /fsx/slurm-state/clustername and run the script again"):
        slurm_controller.apply(slurm_context(bundle=bundle), machine.system)
    assert state.read_text() == "demo|7"
    assert not [text for text in machine.run.inputs if text and "DROP" in text.upper()]


def test_a_controller_is_up_while_another_is_down_though_ping_fails_then(machine: SlurmMachine, bundle: Path) -> None:
    def one_is_down(*_: object) -> str:
        said = "Slurmctld(primary) at ip-10-1-0-4 is UP | Slurmctld(backup) at ip-10-1-0-5 is DOWN"
        raise NodeError(f"`scontrol ping` ended with status 1: {said}")

    machine.answers("scontrol", one_is_down)
    slurm_controller.apply(slurm_context(bundle=bundle), machine.system)
    assert machine.time.pauses == []


def test_running_workers_get_the_files_of_a_second_run_only_if_they_changed(machine: SlurmMachine, bundle: Path) -> None:
    for change, reconfigured in (("", 0), ("", 0), ("# changed\n", 1)):
        machine.write(CONF, SLURM_CONF + change)
        machine.run.commands.clear()
        slurm_controller.apply(slurm_context(bundle=bundle), machine.system)
        assert len(machine.asked("scontrol", "reconfigure")) == reconfigured


@pytest.mark.parametrize(("sign_of_life", "waits"), [(False, True), (True, False)])
def test_a_backup_lets_the_first_controller_begin(machine: SlurmMachine, bundle: Path, sign_of_life: bool, waits: bool) -> None:
    machine.write(CONF, TWO_CONF)
    machine.host, machine.listening, machine.listens_after_s = "ip-10-1-0-5", {"10.1.0.4"}, 40
    machine.answers("scontrol", "Slurmctld(backup) at ip-10-1-0-5 is UP")
    if sign_of_life:
        machine.write("fsx/slurm/heartbeat", "")
    slurm = replace(PLAIN, state_folder="/fsx/slurm")
    slurm_controller.apply(slurm_context(here=SECOND_CONTROLLER, slurm=slurm, bundle=bundle), machine.system)
    assert (machine.time.now_s >= 40) is waits
    assert bool(machine.asked("install", "--directory")) is not sign_of_life
