"""Our steps on nodes where HyperPod's image has started Slurm already."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hyperpod_node.errors import NodeError
from hyperpod_node.node_settings import Accounting
from hyperpod_node.slurm.slurm_conf import BEGIN
from hyperpod_node.steps import accounting, slurm_client, slurm_controller
from tests.unit.hyperpod_node.slurm.slurm_machine import EXTERNAL, LOCAL, PLAIN, WORKER, SlurmMachine, slurm_context

if TYPE_CHECKING:
    from collections.abc import Callable

    from hyperpod_node.context import Context
    from hyperpod_node.system import System

API = replace(PLAIN, setup="api")
MANAGED = replace(EXTERNAL, database="managed")
NO_ACCOUNTING = Accounting("none", None, 3306, None)
STATE = "var/spool/slurmctld/clustername"
FETCHED = "run/slurm/conf/slurm.conf"


def generated_id(machine: SlurmMachine) -> Path:
    """The file of a slurmctld that runs without a database."""
    file = machine.root / STATE
    file.parent.mkdir(parents=True)
    file.write_text("demo=17")
    machine.units["slurmctld"] = "active enabled"
    return file


def without_slurmdbd(machine: SlurmMachine) -> None:
    """slurmdbd does not respond before it is started."""

    def sacctmgr(*_: object) -> str:
        if "active" not in machine.units.get("slurmdbd", ""):
            raise NodeError("`sacctmgr show cluster` ended with status 1: connection refused")
        return ""

    machine.answers("sacctmgr", sacctmgr)


def test_an_id_that_slurmctld_generated_without_a_database_is_forgotten(machine: SlurmMachine) -> None:
    without_slurmdbd(machine)
    file = generated_id(machine)
    for _ in range(2):  # the second run configures our own slurmdbd again
        accounting.apply(slurm_context(slurm=API), machine.system)
        (machine.root / "opt/slurm/etc/slurmdbd.conf").unlink()
    assert ("stop", "slurmctld") in machine.run.named("systemctl")
    assert not file.exists()
    assert machine.units["slurmdbd"] == "active enabled"


@pytest.mark.parametrize(("unit", "starts_s"), [("active enabled", 0), ("inactive enabled", 60)])
def test_the_images_own_slurmdbd_is_used_before_and_after_its_start_and_no_id_forgotten(
    machine: SlurmMachine, unit: str, starts_s: float
) -> None:
    machine.answers("sacctmgr", "", after_s=starts_s)
    machine.units["slurmdbd"] = unit
    file = generated_id(machine)
    accounting.apply(slurm_context(slurm=API), machine.system)
    assert file.exists()
    assert machine.units["slurmdbd"] == unit
    assert not (machine.root / "opt/slurm/etc/slurmdbd.conf").exists()
    assert machine.asked("sacctmgr", "--immediate", "add", "cluster")


@pytest.mark.parametrize("state", ["masked", "not-found", "disabled"])
def test_accounting_is_ours_where_the_image_has_none(machine: SlurmMachine, state: str) -> None:
    machine.units["slurmdbd"] = f"inactive {state}"
    machine.write("opt/slurm/sbin/slurmdbd", "")
    accounting.apply(slurm_context(slurm=API), machine.system)
    assert machine.units["slurmdbd"] == "active enabled"
    assert "StorageHost=localhost" in (machine.root / "opt/slurm/etc/slurmdbd.conf").read_text()
    assert (machine.root / "etc/systemd/system/slurmdbd.service").exists() == (state == "not-found")
    assert ("unmask", "slurmdbd") in machine.run.named("systemctl") or state != "masked"


def test_an_external_database_replaces_the_images_own(machine: SlurmMachine) -> None:
    accounting.apply(slurm_context(slurm=API, accounting=EXTERNAL), machine.system)
    assert machine.units["slurmdbd"] == "active enabled"
    assert "StorageHost=db.example" in (machine.root / "opt/slurm/etc/slurmdbd.conf").read_text()


def test_a_managed_database_is_hyperpods_own(machine: SlurmMachine) -> None:
    file = generated_id(machine)
    accounting.apply(slurm_context(slurm=API, accounting=MANAGED), machine.system)
    assert file.exists()
    assert "slurmdbd" not in machine.units
    assert not (machine.root / "opt/slurm/etc/slurmdbd.conf").exists()
    assert machine.asked("sacctmgr", "--immediate", "add", "cluster")


@pytest.mark.parametrize(
    ("database", "message"),
    [
        (MANAGED, r"at db.example: .* refused"),
        (LOCAL, r"at localhost: .*/slurmdbd\.conf is missing: the image enables slurmdbd but does not configure it; disable .*"),
    ],
)
def test_our_scripts_wait_for_hyperpods_slurmdbd_and_name_its_database(
    machine: SlurmMachine, database: Accounting, message: str
) -> None:
    without_slurmdbd(machine)
    machine.units["slurmdbd"] = "failed enabled"
    with pytest.raises(NodeError, match=f"HyperPod's slurmdbd, with the database {message}; the journal"):
        accounting.apply(slurm_context(slurm=API, accounting=database), machine.system)


def test_a_second_run_of_the_scripts_forgets_no_id(machine: SlurmMachine) -> None:
    without_slurmdbd(machine)
    file = generated_id(machine)
    record = machine.root / "var/lib/hyperpod-cdk/slurmctld.started-with"
    record.parent.mkdir(parents=True)
    record.write_text("before")
    accounting.apply(slurm_context(slurm=API), machine.system)
    assert file.exists()


@pytest.mark.parametrize(("step", "daemon"), [(slurm_client.apply_worker, "slurmd"), (slurm_client.apply_login, "sackd")])
def test_a_daemon_is_restarted_until_it_has_the_configuration_of_the_controllers_scripts(
    worker: SlurmMachine, step: Callable[[Context, System], None], daemon: str, capsys: pytest.CaptureFixture[str]
) -> None:
    worker.write("usr/sbin/sackd", "")
    configurations = iter(["# the agent's, empty\n", "AccountingStorageType=none\n", BEGIN])
    systemctl = worker.run.programs["systemctl"]

    def fetch(arguments: tuple[str, ...], stdin: str | None) -> str:
        if arguments == ("restart", daemon):
            worker.write(FETCHED, next(configurations))
        return systemctl(arguments, stdin)

    worker.answers("systemctl", fetch)
    step(slurm_context(here=WORKER, slurm=API), worker.system)
    assert list(configurations) == []
    assert "warning" not in capsys.readouterr().out


def test_a_configuration_that_never_comes_is_a_warning(worker: SlurmMachine, capsys: pytest.CaptureFixture[str]) -> None:
    slurm_client.apply_worker(slurm_context(here=WORKER, slurm=API), worker.system)
    assert "warning: the final configuration of slurmd: gave up after" in capsys.readouterr().out


def test_with_the_api_the_block_marks_the_final_configuration_even_if_it_is_empty(machine: SlurmMachine) -> None:
    slurm_controller.apply_configuration(slurm_context(slurm=API, accounting=NO_ACCOUNTING), machine.system)
    assert BEGIN in (machine.root / "opt/slurm/etc/slurm.conf").read_text()
