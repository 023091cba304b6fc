"""Slurm's accounting: the database, slurmdbd before it, and the password between them."""

from __future__ import annotations

import stat
from dataclasses import replace

import pytest

from hyperpod_node.errors import NodeError
from hyperpod_node.node_settings import Partition
from hyperpod_node.server_certificate import CertificateError
from hyperpod_node.slurm import accounting_daemon
from hyperpod_node.steps import accounting, slurm_controller
from tests.unit.hyperpod_node.slurm.conftest import CONF
from tests.unit.hyperpod_node.slurm.slurm_machine import (
    CONTROLLER,
    EXTERNAL,
    PLAIN,
    SECOND_CONTROLLER,
    SECRET,
    TWO_CONF,
    SlurmMachine,
    slurm_context,
)


@pytest.mark.fault(70)
def test_the_local_database_has_no_password_at_all(machine: SlurmMachine) -> None:
    accounting.apply(slurm_context(), machine.system)
    assert "StoragePass" not in (machine.root / "opt/slurm/etc/slurmdbd.conf").read_text()
    assert [text for text in machine.run.inputs if text and "IDENTIFIED VIA unix_socket" in text]
    assert not [text for text in machine.run.inputs if text and "IDENTIFIED BY" in text]


def test_mariadb_is_installed_where_the_image_lacks_it_and_only_there(machine: SlurmMachine) -> None:
    accounting.apply(slurm_context(), machine.system)
    assert machine.run.named("apt-get") == []
    (machine.root / "usr/sbin/mariadbd").unlink()
    accounting.apply(slurm_context(), machine.system)
    assert [words[-1] for words in machine.run.named("apt-get")] == ["--quiet", "mariadb-server"]


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
        ("hunter2", "is not a JSON object"),
        ('{"username": "admin", "pass": "hunter2"}', r"has no string 'password'; its keys are \['pass', 'username'\]"),
        ('{"username": "admin", "password": "hunter2\\""}', "double quote or a line break, which slurmdbd.conf cannot contain"),
    ],
)
def test_an_unusable_secret_is_reported_without_its_content(machine: SlurmMachine, secret: str, message: str) -> None:
    machine.answers("aws", secret)
    with pytest.raises(NodeError, match=message) as error:
        accounting.apply(slurm_context(accounting=EXTERNAL), machine.system)
    assert "hunter2" not in str(error.value)


def test_with_the_authorities_at_hand_the_connection_is_encrypted_and_checked(machine: SlurmMachine) -> None:
    file = machine.write("etc/ssl/certs/slurm-database.pem", "-----BEGIN CERTIFICATE-----")
    accounting.apply(slurm_context(accounting=EXTERNAL), machine.system)
    assert f"StorageParameters=SSL_CA={file}\n" in (machine.root / "opt/slurm/etc/slurmdbd.conf").read_text()


RDS = replace(EXTERNAL, authorities="-----BEGIN CERTIFICATE-----")
CONF_FILE = "opt/slurm/etc/slurmdbd.conf"


def refuse(host: str, port: int, authorities: str) -> None:
    raise CertificateError(f"{host}:{port} is another server than that of {authorities}")


def test_a_database_with_a_certificate_of_rds_is_verified(machine: SlurmMachine) -> None:
    checked = []
    machine.verify = lambda *server: checked.append(server)
    accounting.apply(slurm_context(accounting=RDS), machine.system)
    assert checked == [("db.example", 3306, RDS.authorities)]
    file = machine.root / "opt/slurm/etc/slurm-database.pem"
    assert file.read_text() == RDS.authorities
    assert f"StorageParameters=SSL_CA={file}\n" in (machine.root / CONF_FILE).read_text()


def test_another_certificate_does_not_stop_accounting_that_verified_the_database_before(
    machine: SlurmMachine, capsys: pytest.CaptureFixture[str]
) -> None:
    accounting.apply(slurm_context(accounting=RDS), machine.system)
    machine.verify = refuse
    accounting.apply(slurm_context(accounting=RDS), machine.system)
    assert "StorageParameters=SSL_CA=" in (machine.root / CONF_FILE).read_text()
    assert "warning: the accounting database is not verified: db.example:3306" in capsys.readouterr().out


def test_a_new_controller_sends_no_password_to_another_server(machine: SlurmMachine) -> None:
    machine.verify = refuse
    with pytest.raises(NodeError, match=r"does not prove who it is: db\.example:3306 is another server"):
        accounting.apply(slurm_context(accounting=RDS), machine.system)
    assert not (machine.root / CONF_FILE).exists()


def test_a_database_that_does_not_answer_yet_is_verified_when_slurmdbd_connects(machine: SlurmMachine) -> None:
    def refuse_connections(host: str, port: int, _: str) -> None:
        raise NodeError(f"{host}:{port}: Connection refused")

    machine.verify = refuse_connections
    accounting.apply(slurm_context(accounting=RDS), machine.system)
    assert "StorageParameters=SSL_CA=" in (machine.root / CONF_FILE).read_text()


def test_authorities_of_the_node_may_have_comments_in_any_language(machine: SlurmMachine) -> None:
    (machine.root / "etc/ssl/certs").mkdir(parents=True, exist_ok=True)
    (machine.root / "etc/ssl/certs/slurm-database.pem").write_text("# F\u0151tan\u00fas\u00edtv\u00e1ny\nPEM\n", encoding="utf-8")
    checked = []
    machine.verify = lambda *server: checked.append(server[2])
    accounting.apply(slurm_context(accounting=RDS), machine.system)
    assert checked == ["# Ftanstvny\nPEM\n"]
    assert "tan\u00fa" in (machine.root / "etc/ssl/certs/slurm-database.pem").read_text(encoding="utf-8")


@pytest.mark.parametrize("works", [True, False])
def test_a_running_slurmdbd_verifies_its_database_or_goes_on_as_before(
    machine: SlurmMachine, capsys: pytest.CaptureFixture[str], works: bool
) -> None:
    accounting.apply(slurm_context(accounting=EXTERNAL), machine.system)
    before = (machine.root / CONF_FILE).read_text()

    def respond(arguments: tuple[str, ...], _: str | None) -> str:
        if not works and "SSL_CA" in (machine.root / CONF_FILE).read_text():
            raise NodeError("SSL connection error")
        return ""

    machine.answers("sacctmgr", respond)
    accounting_daemon.add_authorities(RDS, machine.system)
    line = f"StorageParameters=SSL_CA={machine.root / 'opt/slurm/etc/slurm-database.pem'}\n"
    assert (machine.root / CONF_FILE).read_text() == before + (line if works else "")
    assert ("warning: slurmdbd does not verify the database at db.example" in capsys.readouterr().out) is not works
    accounting_daemon.add_authorities(replace(RDS, host="another.example"), machine.system)  # the database does not change
    assert (machine.root / CONF_FILE).read_text() == before + (line if works else "")
    if works:
        accounting_daemon.add_authorities(replace(RDS, authorities="renewed"), machine.system)
        assert (machine.root / "opt/slurm/etc/slurm-database.pem").read_text() == "renewed"


def test_a_verification_that_fails_does_not_touch_a_running_slurmdbd(
    machine: SlurmMachine, capsys: pytest.CaptureFixture[str]
) -> None:
    accounting.apply(slurm_context(accounting=EXTERNAL), machine.system)
    before = (machine.root / CONF_FILE).read_text(), len(machine.run.named("systemctl"))
    machine.verify = refuse
    accounting_daemon.add_authorities(RDS, machine.system)
    assert ((machine.root / CONF_FILE).read_text(), len(machine.run.named("systemctl"))) == before
    assert "warning: slurmdbd does not verify the database at db.example" in capsys.readouterr().out


@pytest.mark.fault(69)
def test_slurmdbd_is_waited_for_while_the_database_is_not_there(machine: SlurmMachine) -> None:
    machine.answers("mariadb", "", after_s=20)
    machine.answers("sacctmgr", "", after_s=60)
    accounting.apply(slurm_context(), machine.system)
    assert 60 <= machine.time.now_s < 80
    unit = (machine.root / "etc/systemd/system/slurmdbd.service.d/hyperpod-cdk.conf").read_text()
    assert "mariadb.service" in unit.split("After=")[1].splitlines()[0]
    assert "Restart=on-failure" in unit


@pytest.mark.fault(69)
def test_a_slurmdbd_that_never_answers_is_an_error_with_what_it_complains_of(machine: SlurmMachine) -> None:
    machine.answers("sacctmgr", NodeError("Connection refused"))
    with pytest.raises(NodeError, match=r"the database at localhost: gave up .*the journal of slurmdbd: it complains"):
        accounting.apply(slurm_context(), machine.system)


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
    slurm_controller.apply_configuration(context, machine.system)
    accounting.apply(context, machine.system)
    text = (machine.root / "opt/slurm/etc/slurmdbd.conf").read_text()
    assert "DbdHost=ip-10-1-0-4\nDbdBackupHost=ip-10-1-0-5\n" in text
    assert not machine.asked("sacctmgr", "--immediate")
    assert "AccountingStorageBackupHost=10.1.0.5\n" in (machine.root / CONF).read_text()


@pytest.mark.parametrize(("known", "added"), [("normal\n", "long,short"), ("normal\nshort\n", "long"), ("long\nshort\n", None)])
def test_a_qos_that_a_partition_names_is_created_if_it_is_missing(machine: SlurmMachine, known: str, added: str | None) -> None:
    """With AccountingStorageEnforce, slurmctld would not start without it."""
    names = ("short", "Long", None)
    partitions = tuple(Partition(f"p{number}", None, {"QOS": name} if name else {}) for number, name in enumerate(names))
    machine.answers("sacctmgr", lambda arguments, _: known if "qos" in arguments else "")
    accounting.apply(slurm_context(slurm=replace(PLAIN, partitions=partitions)), machine.system)
    asked = machine.asked("sacctmgr", "--immediate", "add", "qos")
    assert [arguments[-1] for arguments in asked] == ([added] if added else [])
