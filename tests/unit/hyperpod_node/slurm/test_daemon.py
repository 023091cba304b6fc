"""What is asked of systemd, and what is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from hyperpod_node.errors import NodeError
from hyperpod_node.slurm import daemon
from tests.unit.hyperpod_node.recorded_run import Answer
from tests.unit.hyperpod_node.slurm.slurm_machine import SlurmMachine

WANTS = ("--no-reload", "add-wants", "multi-user.target", "slurmd")


def in_state(load: str = "loaded", active: str = "inactive", enabled: str = "disabled", reload: str = "no") -> Answer:
    said = f"LoadState={load}\nActiveState={active}\nUnitFileState={enabled}\nNeedDaemonReload={reload}\n"
    return lambda arguments, _: said if arguments[0] == "show" else ""


def asked(tmp_path: Path, answer: Answer) -> list[tuple[str, ...]]:
    machine = SlurmMachine(tmp_path)
    machine.answers("systemctl", answer)
    daemon.ensure_running("slurmd", [], machine.system)
    return [arguments for arguments in machine.run.named("systemctl") if arguments[0] != "show"]


@pytest.mark.parametrize(
    ("answer", "verbs"),
    [
        (in_state(), [WANTS, ("daemon-reload",), ("restart", "slurmd")]),
        (in_state(enabled="enabled"), [("restart", "slurmd")]),
        (in_state(enabled="enabled", reload="yes"), [("daemon-reload",), ("restart", "slurmd")]),
        (in_state(enabled="enabled", active="failed"), [("reset-failed", "slurmd"), ("restart", "slurmd")]),
        (in_state(enabled="masked"), [("unmask", "slurmd"), WANTS, ("daemon-reload",), ("restart", "slurmd")]),
    ],
)
def test_a_daemon_is_started_as_it_is_defined_now(tmp_path: Path, answer: Answer, verbs: list[tuple[str, ...]]) -> None:
    assert asked(tmp_path, answer) == verbs


def test_a_daemon_is_restarted_for_a_changed_file_and_for_none_that_did_not_change(tmp_path: Path) -> None:
    machine = SlurmMachine(tmp_path)
    file = machine.write("etc/default/slurmd", "a")
    restarts = []
    for content in ("a", "a", "b", "b"):
        file.write_text(content)
        restarts.append(daemon.ensure_running("slurmd", [file], machine.system))
    assert restarts == [True, False, True, False]


def test_only_root_reads_the_hash_of_files_that_may_hold_a_password(tmp_path: Path) -> None:
    machine = SlurmMachine(tmp_path)
    mark = machine.path(daemon.STARTED_WITH / "slurmdbd.started-with")
    for remember in (daemon.ensure_running, daemon.record_files):
        remember("slurmdbd", [], machine.system)
        assert mark.stat().st_mode & 0o777 == 0o600
        mark.unlink()


def test_files_that_a_daemon_has_read_are_no_reason_to_restart_it(tmp_path: Path) -> None:
    machine = SlurmMachine(tmp_path)
    file = machine.write("opt/slurm/etc/slurm.conf", "a")
    daemon.ensure_running("slurmctld", [file], machine.system)
    file.write_text("b")
    daemon.record_files("slurmctld", [file], machine.system)
    assert daemon.ensure_running("slurmctld", [file], machine.system) is False


@pytest.mark.fault(71)
@pytest.mark.parametrize(
    ("answer", "verbs"),
    [
        (in_state(), [("mask", "slurmd")]),
        (in_state(active="active"), [("stop", "slurmd"), ("mask", "slurmd")]),
        (in_state(enabled="masked"), []),
        (in_state(load="not-found", enabled=""), []),
    ],
)
def test_a_daemon_that_must_not_run_here_is_masked_once(tmp_path: Path, answer: Answer, verbs: list[tuple[str, ...]]) -> None:
    machine = SlurmMachine(tmp_path)
    machine.answers("systemctl", answer)
    daemon.mask("slurmd", machine.system)
    assert [arguments for arguments in machine.run.named("systemctl") if arguments[0] != "show"] == verbs


def test_a_timeout_is_reported_with_the_units_journal(tmp_path: Path) -> None:
    machine = SlurmMachine(tmp_path)
    machine.answers("journalctl", "first\n\n second \n")
    assert daemon.journal("slurmd", machine.system) == "first | second"


def test_a_journal_that_cannot_be_read_hides_no_other_error(tmp_path: Path) -> None:
    machine = SlurmMachine(tmp_path)
    machine.answers("journalctl", NodeError("no journal files were found"))
    assert daemon.journal("slurmd", machine.system) == "no journal files were found"
