"""Only one of several controllers writes the shared state."""

from __future__ import annotations

import struct
import time
from dataclasses import replace
from pathlib import Path

import pytest

from hyperpod_node.slurm.handover import REQUEST, RETRY_S, TIMEOUT_S, Handover
from hyperpod_node.slurm.slurm_conf import BEGIN, END
from tests.unit.hyperpod_node.slurm.slurm_machine import SLURM_CONF, TWO_CONF, SlurmMachine

CONF = "opt/slurm/etc/slurm.conf"
RESTARTED = ("try-restart", "slurmctld")  # starts no slurmctld that an operator stopped
KILLED = ("kill", "--signal=KILL", "slurmctld")


class Controllers:
    """A controller's keeper, and the heartbeats that the controllers write."""

    def __init__(self, root: Path, host: str) -> None:
        self.time = int(time.time())
        self.machine = SlurmMachine(root, host=host)
        self.machine.write(CONF, TWO_CONF)
        self.folder = self.machine.path("/fsx/slurm")
        self.folder.mkdir(parents=True)
        self.handover = Handover(self.folder, self.machine.system)

    def beat(self, place: int) -> None:
        """A controller writes its heartbeat, and the keeper looks."""
        self.write(place)
        self.handover.check()

    def write(self, place: int) -> None:
        (self.folder / "heartbeat").write_bytes(struct.pack(">QQ", self.time, place))

    def ask(self) -> None:
        """A controller that starts asks for control, and the keeper looks."""
        (self.folder / REQUEST).touch()
        self.handover.check()

    def commands(self) -> list[tuple[str, ...]]:
        return self.machine.run.named("systemctl")


@pytest.fixture
def first(tmp_path: Path) -> Controllers:
    return Controllers(tmp_path, "ip-10-1-0-4")


@pytest.fixture
def second(tmp_path: Path) -> Controllers:
    return Controllers(tmp_path, "ip-10-1-0-5")


@pytest.mark.parametrize(("host", "writers", "commands"), [("4", (0, 0, 1, 1), [KILLED]), ("5", (0, 1, 1), [])])
def test_only_a_superseded_controller_is_killed_and_only_once(
    tmp_path: Path, host: str, writers: tuple[int, ...], commands: list[tuple[str, ...]]
) -> None:
    here = Controllers(tmp_path, f"ip-10-1-0-{host}")
    for place in writers:
        here.beat(place)
    assert here.commands() == commands


def test_a_missing_or_incomplete_heartbeat_is_ignored(first: Controllers) -> None:
    first.beat(0)
    (first.folder / "heartbeat").write_bytes(b"half")
    first.handover.check()
    (first.folder / "heartbeat").unlink()
    first.handover.check()
    first.beat(0)
    assert first.commands() == []


def test_the_controller_in_control_gives_it_back_and_is_not_killed_for_that(second: Controllers) -> None:
    second.beat(1)
    (second.folder / REQUEST).touch()
    second.beat(1)
    assert second.commands() == [RESTARTED]
    assert not (second.folder / REQUEST).exists()
    second.handover.check()
    second.beat(0)
    assert second.commands() == [RESTARTED]


def test_a_controller_that_fails_to_start_is_given_control_only_once(second: Controllers) -> None:
    second.beat(1)
    for _ in range(3):
        second.ask()
        assert not (second.folder / REQUEST).exists()
    assert second.commands() == [RESTARTED]


def test_after_a_handover_in_vain_the_next_waits_ten_minutes(second: Controllers) -> None:
    second.beat(1)
    second.ask()
    second.time += 60
    second.beat(1)
    second.ask()
    second.machine.time.now_s = RETRY_S - 1
    second.handover.check()
    assert second.commands() == [RESTARTED]
    second.machine.time.now_s = RETRY_S
    second.handover.check()
    assert second.commands() == [RESTARTED] * 2


def test_after_a_successful_handover_the_next_is_immediate(second: Controllers) -> None:
    second.beat(1)
    second.ask()
    second.beat(0)
    second.time += 60
    second.beat(1)
    second.ask()
    assert second.commands() == [RESTARTED] * 2


def test_a_controller_that_takes_over_again_after_it_gave_control_back_is_killed_if_superseded(second: Controllers) -> None:
    second.beat(1)
    (second.folder / REQUEST).touch()
    second.beat(1)
    second.time += 60
    second.beat(1)
    second.beat(0)
    assert second.commands() == [RESTARTED, KILLED]


def test_a_file_system_that_cannot_be_read_is_reported_once(first: Controllers, capsys: pytest.CaptureFixture[str]) -> None:
    (first.folder / "heartbeat").mkdir()
    first.handover.check()
    first.handover.check()
    assert capsys.readouterr().out.count("the writer of Slurm's state is unknown: ") == 1


def test_a_slurm_conf_that_cannot_be_read_is_reported_once(first: Controllers, capsys: pytest.CaptureFixture[str]) -> None:
    first.machine.path(f"/{CONF}").write_bytes(b"\xff")
    first.beat(0)
    first.beat(1)
    assert capsys.readouterr().out.count("the writer of Slurm's state is unknown: unexpected UnicodeDecodeError") == 1


def test_the_first_controller_waits_for_control_until_the_second_has_given_it_back(first: Controllers) -> None:
    first.beat(1)
    clock = first.machine.system.clock

    def sleep(seconds: float) -> None:
        assert (first.folder / REQUEST).exists()
        if clock.now() > 3:
            (first.folder / REQUEST).unlink()
        clock.sleep(seconds)

    system = replace(first.machine.system, clock=replace(clock, sleep=sleep))
    Handover(first.folder, system).take_back()
    assert 3 < first.machine.time.now_s < TIMEOUT_S


def test_a_request_without_an_answer_ends_with_a_warning(first: Controllers, capsys: pytest.CaptureFixture[str]) -> None:
    first.beat(1)
    first.handover.take_back()
    assert "warning: slurmctld starts while another controller may be in control" in capsys.readouterr().out
    assert not (first.folder / REQUEST).exists()


@pytest.mark.parametrize(("age_s", "line", "waits"), [(7, "SlurmctldTimeout=5", False), (100, "", True), (130, "", False)])
def test_the_first_controller_waits_only_for_a_controller_that_still_writes(
    first: Controllers, age_s: int, line: str, waits: bool
) -> None:
    first.machine.write(CONF, f"{TWO_CONF}{BEGIN}\n{line}\n{END}\n")
    first.time -= age_s
    first.beat(1)
    first.handover.take_back()
    assert bool(first.machine.time.pauses) == waits


def test_a_heartbeat_that_is_missing_while_it_is_replaced_is_read_again(
    first: Controllers, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = first.machine.system.clock

    def sleep(seconds: float) -> None:
        first.write(1)
        clock.sleep(seconds)

    Handover(first.folder, replace(first.machine.system, clock=replace(clock, sleep=sleep))).take_back()
    assert "another controller may be in control" in capsys.readouterr().out


def test_a_new_state_folder_delays_no_start(first: Controllers) -> None:
    first.handover.take_back()
    assert first.machine.time.now_s < 1


@pytest.mark.parametrize(
    ("host", "writer", "conf"), [("4", 0, TWO_CONF), ("5", 0, TWO_CONF), ("5", 1, TWO_CONF), ("4", 1, SLURM_CONF)]
)
def test_a_controller_that_no_later_one_has_superseded_starts_at_once(tmp_path: Path, host: str, writer: int, conf: str) -> None:
    here = Controllers(tmp_path, f"ip-10-1-0-{host}")
    here.beat(writer)
    here.machine.write(CONF, conf)
    here.handover.take_back()
    assert here.machine.time.pauses == []
