"""Lustre's network over EFA, with devices that are links in a folder."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from hyperpod_node.errors import NodeError
from hyperpod_node.lustre_efa import DEVICES, PROGRAM, ROUTES, UNIT, UNITS, set_up, spread
from tests.unit.hyperpod_node.a_node import P5
from tests.unit.hyperpod_node.fake_system import FakeSystem

ROUTE_TABLE = "Iface\tDestination\tGateway\nens5\t0000010A\t00000000\nenp71s0\t00000000\t0100010A\n"


@pytest.fixture
def node(tmp_path: Path) -> FakeSystem:
    node = FakeSystem(tmp_path)
    node.write(str(ROUTES), ROUTE_TABLE)
    devices = node.path(DEVICES)
    for driver, names in {"efa": [f"rdmap{at:02}s0" for at in range(16)], "mlx5_core": ["mlx5_0"]}.items():
        (tmp_path / "drivers" / driver).mkdir(parents=True)
        for name in names:
            (devices / name / "device").mkdir(parents=True)
            (devices / name / "device" / "driver").symlink_to(tmp_path / "drivers" / driver)
    return node


@pytest.mark.fault(72)
def test_eight_of_sixteen_devices_serve_lustre_on_a_p5(node: FakeSystem) -> None:
    set_up(P5, node.system)
    script = node.path(PROGRAM).read_text()
    added = [line.split()[6] for line in script.splitlines() if line.startswith("lnetctl net add --net efa")]
    assert added == [f"rdmap{at:02}s0" for at in range(0, 16, 2)]
    assert "modprobe kefalnd ipif_name=enp71s0" in script
    assert script.index("net add --net tcp --if enp71s0") < script.index("modprobe kefalnd"), "TCP must be there when EFA fails"
    assert subprocess.run(["bash", "-n", node.path(PROGRAM)], check=False).returncode == 0


def test_another_type_uses_two_devices_and_one_that_has_one_uses_it(node: FakeSystem) -> None:
    set_up("ml.g6e.48xlarge", node.system)
    assert node.path(PROGRAM).read_text().count("net add --net efa") == 2
    assert spread(["one"], 2) == ["one"]
    assert spread([*"abcd"], 2) == ["a", "c"]


@pytest.mark.fault(66)
def test_a_second_run_only_asks_for_the_unit_that_a_reboot_starts_as_well(node: FakeSystem) -> None:
    set_up(P5, node.system)
    assert ("enable", UNIT) in node.run.named("systemctl")
    node.run.commands.clear()
    set_up(P5, node.system)
    assert node.run.named("systemctl") == [("start", UNIT)]
    assert "Before=remote-fs-pre.target fsx.mount" in node.path(UNITS / UNIT).read_text()


@pytest.mark.fault(72)
def test_an_ami_whose_lustre_client_knows_no_efa_is_left_as_it_is(node: FakeSystem) -> None:
    node.answers("modinfo", NodeError("`modinfo kefalnd` ended with status 1: Module kefalnd not found"))
    with pytest.raises(NodeError, match="kefalnd not found"):
        set_up(P5, node.system)
    assert not node.path(PROGRAM).exists()


@pytest.mark.fault(72)
def test_a_set_up_that_fails_says_what_its_journal_says(node: FakeSystem) -> None:
    def refuse(arguments: tuple[str, ...], stdin: str | None) -> str:
        if arguments[0] == "start":
            raise NodeError("Job for lustre-over-efa.service failed, see journalctl")
        return ""

    node.answers("systemctl", refuse)
    node.answers("journalctl", "Starting\nlnetctl: cannot add network: No such device\n")
    with pytest.raises(NodeError, match=r"lustre-over-efa\.sh failed: Starting \| lnetctl: cannot add network: No such device$"):
        set_up(P5, node.system)


def test_the_script_adds_what_is_missing_and_nothing_twice(node: FakeSystem, tmp_path: Path) -> None:
    set_up("ml.g6e.48xlarge", node.system)
    nets = tmp_path / "nets"
    (tmp_path / "bin").mkdir()
    program = f"""#!/bin/bash
    touch {nets}
    case "$1 $2" in
    "net show") grep -o "@$4" {nets} ;;
    "net add") echo "@$4 $6" >>{nets} ;;
    esac
    true
    """
    for name in ("lnetctl", "modprobe"):
        (tmp_path / "bin" / name).write_text(program)
        (tmp_path / "bin" / name).chmod(0o755)
    for _ in range(2):
        subprocess.run([node.path(PROGRAM)], env={"PATH": f"{tmp_path}/bin:{os.environ['PATH']}"}, check=True)
    assert nets.read_text().splitlines() == ["@tcp enp71s0", "@efa rdmap00s0", "@efa rdmap08s0"]


def test_a_node_without_a_default_route_says_so(node: FakeSystem) -> None:
    node.write(str(ROUTES), ROUTE_TABLE.splitlines()[0] + "\n")
    with pytest.raises(NodeError, match="no default route in "):
        set_up(P5, node.system)
