"""The steps of a controller, up to a slurmctld that answers."""

from __future__ import annotations

import stat
from dataclasses import replace
from pathlib import Path

import pytest

from hyperpod_node.context import Context
from hyperpod_node.errors import NodeError
from hyperpod_node.steps import accounting, munge, slurm_configuration, slurm_controller
from tests.unit.hyperpod_node.a_node import user
from tests.unit.hyperpod_node.slurm.slurm_machine import (
    CONTROLLER,
    EXTERNAL,
    PLAIN,
    SECOND_CONTROLLER,
    SECRET,
    SLURM_CONF,
    WORKER,
    SlurmMachine,
    slurm_context,
)

DATA = Path(__file__).parents[3] / "data/slurm"
CONF = "opt/slurm/etc/slurm.conf"
BOTH = "SlurmctldHost=ip-10-1-0-4(10.1.0.4)\nSlurmctldHost=ip-10-1-0-5(10.1.0.5)\n"
TWO_CONF = SLURM_CONF.replace("SlurmctldHost=ip-10-1-0-4(10.1.0.4)\n", BOTH)
PASSWORD = "p#a\\s'w$ &or=d"


@pytest.fixture
def machine(tmp_path: Path) -> SlurmMachine:
    machine = SlurmMachine(tmp_path)
    machine.write(CONF, SLURM_CONF)
    machine.write("opt/slurm/etc/accounting.conf", "")
    machine.write("etc/munge/munge.key", "key")
    machine.answers("scontrol", "Slurmctld(primary) at ip-10-1-0-4 is UP")
    machine.answers("sacctmgr", "")
    machine.answers("aws", '{"username": "admin", "password": "' + PASSWORD.replace("\\", "\\\\") + '"}')
    return machine


@pytest.mark.fault(65)
@pytest.mark.parametrize("content", [None, "# not finished\nClusterName=demo\n"])
def test_a_slurm_conf_that_does_not_come_is_an_error_with_a_bound(tmp_path: Path, content: str | None) -> None:
    machine = SlurmMachine(tmp_path)
    if content is not None:
        machine.write(CONF, content)
    with pytest.raises(NodeError, match=r"slurm\.conf: gave up after .*HyperPod's agent"):
        slurm_configuration.apply(slurm_context(), machine.system)
    assert 500 < machine.time.now_s <= slurm_configuration.WITHIN_S


def test_a_slurm_conf_that_comes_late_is_waited_for(tmp_path: Path) -> None:
    machine = SlurmMachine(tmp_path)

    def pause(_: float) -> None:
        machine.write(CONF, SLURM_CONF)

    system = replace(machine.system, clock=replace(machine.time.clock, sleep=pause))
    slurm_configuration.apply(slurm_context(), system)
    assert "AccountingStorageHost" in (tmp_path / CONF).read_text()


@pytest.mark.fault(66)
def test_the_configuration_is_written_once_and_keeps_the_agents_owner_and_mode(machine: SlurmMachine) -> None:
    context = slurm_context(slurm=replace(PLAIN, prolog_and_epilog=True, topology="SwitchName=a Nodes=ip-10-1-0-6\n"))
    (machine.root / CONF).chmod(0o640)
    slurm_configuration.apply(context, machine.system)
    after = machine.files()
    slurm_configuration.apply(context, machine.system)
    assert machine.files() == after
    assert stat.S_IMODE((machine.root / CONF).stat().st_mode) == 0o640
    etc = machine.root / "opt/slurm/etc"
    assert stat.S_IMODE((etc / "hyperpod_prolog.sh").stat().st_mode) == 0o755
    assert "Type=h100" in (etc / "gres.conf").read_text()
    assert "SwitchName=a" in (etc / "topology.conf").read_text()
    assert "NodeName=DEFAULT Sockets=2" in (etc / "accounting.conf").read_text()


def test_files_of_another_hand_are_left_alone_and_ours_go_when_unwanted(machine: SlurmMachine) -> None:
    theirs = machine.write("opt/slurm/etc/gres.conf", "AutoDetect=nvml\n")
    topology = replace(PLAIN, topology="SwitchName=a Nodes=ip-10-1-0-6\n")
    slurm_configuration.apply(slurm_context(slurm=topology), machine.system)
    slurm_configuration.apply(slurm_context(), machine.system)
    assert theirs.read_text() == "AutoDetect=nvml\n"
    assert not (machine.root / "opt/slurm/etc/topology.conf").exists()


def test_an_included_file_is_never_left_empty_because_all_commands_would_complain(machine: SlurmMachine) -> None:
    slurm_configuration.apply(slurm_context(types={}), machine.system)
    assert (machine.root / "opt/slurm/etc/accounting.conf").read_text().startswith("#")


def test_a_topology_that_does_not_fit_is_not_used_and_a_warning_says_why(
    machine: SlurmMachine, capsys: pytest.CaptureFixture[str]
) -> None:
    slurm_configuration.apply(slurm_context(slurm=replace(PLAIN, topology="SwitchName=a Nodes=x\n")), machine.system)
    assert "warning: jobs are placed without a topology: slurm.topology does not name ip-10-1-0-6" in capsys.readouterr().out
    assert "TopologyPlugin" not in (machine.root / CONF).read_text()


def test_a_controller_of_which_slurm_conf_does_not_know_is_not_started(machine: SlurmMachine) -> None:
    context = slurm_context(instances=(CONTROLLER, SECOND_CONTROLLER, WORKER))
    with pytest.raises(NodeError, match=r"\['ip-10-1-0-4'\] but not for the controllers \['10\.1\.0\.5'\]"):
        slurm_configuration.apply(context, machine.system)


def test_munge_runs_with_the_clusters_key_and_without_it_nothing_goes_on(machine: SlurmMachine) -> None:
    munge.apply(slurm_context(), machine.system)
    assert machine.units["munge"] == "active enabled"
    (machine.root / "etc/munge/munge.key").unlink()
    with pytest.raises(NodeError, match=r"munge\.key is missing; HyperPod's agent writes it"):
        munge.apply(slurm_context(), machine.system)


def start_all(machine: SlurmMachine, context: Context) -> None:
    for step in (slurm_configuration, accounting, slurm_controller):
        step.apply(context, machine.system)


@pytest.fixture
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bundle")
    (folder / "node_settings.json").write_text("{}")
    return folder


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


@pytest.mark.fault(70)
def test_the_local_database_has_no_password_at_all(machine: SlurmMachine) -> None:
    accounting.apply(slurm_context(), machine.system)
    assert "StoragePass" not in (machine.root / "opt/slurm/etc/slurmdbd.conf").read_text()
    assert [text for text in machine.run.inputs if text and "IDENTIFIED VIA unix_socket" in text]
    assert not [text for text in machine.run.inputs if text and "IDENTIFIED BY" in text]


@pytest.mark.fault(70)
def test_an_external_databases_password_is_in_one_file_of_slurms_and_nowhere_else(
    machine: SlurmMachine, capsys: pytest.CaptureFixture[str]
) -> None:
    accounting.apply(slurm_context(accounting=EXTERNAL), machine.system)
    assert machine.asked("aws") == [
        (
            "secretsmanager",
            "get-secret-value",
            *f"--secret-id {SECRET} --region us-west-2 --query SecretString --output text".split(),
        )
    ]
    held = [name for name, content in machine.files().items() if b"or=d" in content]
    assert held == ["opt/slurm/etc/slurmdbd.conf"]
    file = machine.root / held[0]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert 'StoragePass="p\\#a\\\\s\'w$ &or=d"\n' in file.read_text()
    assert "StorageHost=db.example\nStoragePort=3306\nStorageUser=admin\n" in file.read_text()
    said = str(machine.run.commands) + str(machine.run.environments) + capsys.readouterr().out
    assert "or=d" not in said


@pytest.mark.fault(70)
@pytest.mark.parametrize(
    ("secret", "message"),
    [
        ("hunter2", "does not hold a JSON object"),
        ('{"username": "admin", "pass": "hunter2"}', r"has no text at 'password', only the keys \['pass', 'username'\]"),
        ('{"username": "admin", "password": "hunter2\\""}', "a character that slurmdbd.conf cannot hold"),
    ],
)
def test_a_secret_that_cannot_be_used_is_told_without_what_it_holds(machine: SlurmMachine, secret: str, message: str) -> None:
    machine.answers("aws", secret)
    with pytest.raises(NodeError, match=message) as error:
        accounting.apply(slurm_context(accounting=EXTERNAL), machine.system)
    assert "hunter2" not in str(error.value)


def test_with_the_authorities_at_hand_the_connection_is_encrypted_and_checked(machine: SlurmMachine) -> None:
    file = machine.write("etc/ssl/certs/slurm-database.pem", "-----BEGIN CERTIFICATE-----")
    accounting.apply(slurm_context(accounting=EXTERNAL), machine.system)
    assert f"StorageParameters=SSL_CA={file}\n" in (machine.root / "opt/slurm/etc/slurmdbd.conf").read_text()


@pytest.mark.fault(69)
def test_slurmdbd_is_waited_for_while_the_database_is_not_there(machine: SlurmMachine) -> None:
    def mariadb(_: tuple[str, ...], __: str | None) -> str:
        if machine.time.now_s < 20:
            raise NodeError("no socket")
        return ""

    def sacctmgr(_: tuple[str, ...], __: str | None) -> str:
        if machine.time.now_s < 60:
            raise NodeError("Connection refused")
        return ""

    machine.answers("mariadb", mariadb)
    machine.answers("sacctmgr", sacctmgr)
    accounting.apply(slurm_context(), machine.system)
    assert 60 <= machine.time.now_s < 80
    unit = (machine.root / "etc/systemd/system/slurmdbd.service.d/hyperpod-cdk.conf").read_text()
    assert "mariadb.service" in unit.split("After=")[1].splitlines()[0]
    assert "Restart=on-failure" in unit


@pytest.mark.fault(69)
def test_a_slurmdbd_that_never_answers_is_an_error_with_what_it_complains_of(machine: SlurmMachine) -> None:
    def refused(_: tuple[str, ...], __: str | None) -> str:
        raise NodeError("Connection refused")

    machine.answers("sacctmgr", refused)
    with pytest.raises(NodeError, match=r"the database at localhost: gave up .*the journal of slurmdbd: it complains"):
        accounting.apply(slurm_context(), machine.system)


@pytest.mark.fault(69)
def test_a_database_of_an_older_cluster_is_told_with_the_way_out_and_nothing_is_removed(
    machine: SlurmMachine, bundle: Path
) -> None:
    state = machine.write("var/spool/slurmctld/clustername", "demo|7")
    machine.answers("scontrol", "Slurmctld(primary) at ip-10-1-0-4 is DOWN")
    machine.answers("journalctl", (DATA / "cluster_id_mismatch.txt").read_text())
    with pytest.raises(NodeError, match=r"CLUSTER ID MISMATCH.* remove /fsx/slurm-state/clustername and run the script again"):
        slurm_controller.apply(slurm_context(bundle=bundle), machine.system)
    assert state.read_text() == "demo|7"
    assert not [text for text in machine.run.inputs if text and "DROP" in text.upper()]


def test_a_second_controller_uses_the_firsts_database(machine: SlurmMachine) -> None:
    machine.write(CONF, TWO_CONF)
    machine.host, machine.listening, machine.listens_after_s = "ip-10-1-0-5", {"10.1.0.4"}, 30
    accounting.apply(slurm_context(here=SECOND_CONTROLLER, instances=(CONTROLLER, SECOND_CONTROLLER)), machine.system)
    assert machine.time.now_s >= 30
    assert "mariadb" not in machine.units


def test_with_an_external_database_a_second_controller_stands_in_for_slurmdbd_too(machine: SlurmMachine) -> None:
    machine.write(CONF, TWO_CONF)
    machine.host = "ip-10-1-0-5"
    context = slurm_context(here=SECOND_CONTROLLER, instances=(CONTROLLER, SECOND_CONTROLLER), accounting=EXTERNAL)
    slurm_configuration.apply(context, machine.system)
    accounting.apply(context, machine.system)
    text = (machine.root / "opt/slurm/etc/slurmdbd.conf").read_text()
    assert "DbdHost=ip-10-1-0-4\nDbdBackupHost=ip-10-1-0-5\n" in text
    assert not machine.asked("sacctmgr", "--immediate")
    assert "AccountingStorageBackupHost=10.1.0.5\n" in (machine.root / CONF).read_text()


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
