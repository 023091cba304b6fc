"""How workers and login nodes follow controllers that are replaced."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from hyperpod_node.errors import NodeError
from hyperpod_node.slurm import follower
from hyperpod_node.slurm.follower import Follower
from hyperpod_node.steps import precheck, slurm_client
from hyperpod_node.system import CODE
from tests.unit.hyperpod_node.slurm.slurm_machine import (
    CONTROLLER,
    IDLE,
    SECOND_CONTROLLER,
    UP,
    WORKER,
    SlurmMachine,
    slurm_context,
)

RESTART = ("--no-block", "try-restart")
OPTIONS = {"slurmd": "etc/default/slurmd", "sackd": "etc/default/sackd", "shells": "etc/environment"}


def listing(*controllers: str, workers: int = 1) -> str:
    """HyperPod's file."""
    nodes = {"controller-machine": list(controllers), "compute-nodes": [f"10.1.9.{n}" for n in range(workers)]}
    groups = [
        {
            "Name": group,
            "Instances": [
                {"InstanceName": f"{group}-{n}", "CustomerIpAddress": address, "InstanceId": f"i-{n}"}
                for n, address in enumerate(addresses)
            ],
        }
        for group, addresses in nodes.items()
    ]
    return json.dumps({"ClusterConfig": {"ClusterName": "demo"}, "InstanceGroups": groups})


@pytest.fixture
def node(worker: SlurmMachine) -> SlurmMachine:
    worker.write("resource_config.json", listing("10.1.0.4"))
    return worker


def provide(machine: SlurmMachine, client: str) -> None:
    """Take the Slurm step of a node with that client, with two controllers where the machine has them listen."""
    known = tuple(one for one in (CONTROLLER, SECOND_CONTROLLER) if one.address in machine.listening)
    machine.answers("scontrol", IDLE if client == "slurmd" else UP)
    if client == "sackd":
        machine.write("usr/sbin/sackd", "")
    step = slurm_client.apply_worker if client == "slurmd" else slurm_client.apply_login
    step(slurm_context(here=WORKER, instances=(*known, WORKER)), machine.system)
    machine.run.commands.clear()


def of(machine: SlurmMachine, client: str = "slurmd") -> Follower:
    return Follower(machine.root / "resource_config.json", "controller-machine", client, machine.system)


@pytest.mark.fault(67)
@pytest.mark.parametrize("client", ["slurmd", "sackd"])
def test_a_daemon_learns_of_the_new_controller_and_restarts_without_waiting_for_it(
    node: SlurmMachine, client: str, capsys: pytest.CaptureFixture[str]
) -> None:
    provide(node, client)
    capsys.readouterr()
    node.write("resource_config.json", listing("10.1.0.99"))

    of(node, client).follow()

    assert (node.root / OPTIONS[client]).read_text() == f"{client.upper()}_OPTIONS=--conf-server=10.1.0.99\n"
    assert node.run.commands == [("systemctl", *RESTART, client)]
    said = f"the controllers' addresses are now 10.1.0.99, not 10.1.0.4: {client} is restarted\n"
    assert capsys.readouterr().out == said


@pytest.mark.fault(67)
def test_shells_without_sackd_learn_of_the_new_controller(node: SlurmMachine) -> None:
    node.write(OPTIONS["shells"], "LANG=C.UTF-8\n")
    provide(node, "shells")
    node.write("resource_config.json", listing("10.1.0.99"))
    of(node, "shells").follow()
    assert (node.root / OPTIONS["shells"]).read_text() == "LANG=C.UTF-8\nSLURM_CONF_SERVER=10.1.0.99\n"
    assert (node.root / "etc/profile.d/hyperpod-slurm.sh").read_text() == "export SLURM_CONF_SERVER=10.1.0.99\n"
    assert node.run.commands == []


@pytest.mark.parametrize("client", ["slurmd", "sackd", "shells"])
def test_a_cluster_that_grows_starts_no_program_and_writes_nothing(node: SlurmMachine, client: str) -> None:
    provide(node, client)
    for workers in (2, 64):
        node.write("resource_config.json", listing("10.1.0.4", workers=workers))
        before = node.files()
        of(node, client).follow()
        assert node.files() == before
    assert node.run.commands == []


def test_controllers_in_another_order_are_the_same_controllers(node: SlurmMachine) -> None:
    node.listening = {"10.1.0.4", "10.1.0.5"}
    provide(node, "slurmd")
    node.write("resource_config.json", listing("10.1.0.5", "10.1.0.4"))
    of(node).follow()
    assert node.run.commands == []


@pytest.mark.fault(67)
def test_one_of_several_controllers_that_is_replaced_is_followed(node: SlurmMachine) -> None:
    node.listening = {"10.1.0.4", "10.1.0.5"}
    provide(node, "slurmd")
    node.write("resource_config.json", listing("10.1.0.4", "10.1.0.99"))
    of(node).follow()
    assert (node.root / OPTIONS["slurmd"]).read_text() == "SLURMD_OPTIONS=--conf-server=10.1.0.4,10.1.0.99\n"


def test_the_old_address_stays_while_no_controller_is_listed(node: SlurmMachine) -> None:
    provide(node, "slurmd")
    node.write("resource_config.json", listing())
    of(node).follow()
    assert "--conf-server=10.1.0.4\n" in (node.root / OPTIONS["slurmd"]).read_text()
    assert node.run.commands == []


def test_a_node_whose_scripts_have_not_come_to_slurm_is_left_to_them(node: SlurmMachine) -> None:
    before = node.files()
    of(node).follow()
    assert node.files() == before


@pytest.mark.fault(67)
def test_a_change_that_comes_while_it_acts_is_not_missed(node: SlurmMachine) -> None:
    provide(node, "slurmd")
    later = [listing("10.1.0.98")]

    def systemctl(_: tuple[str, ...], __: str | None) -> str:
        if later:
            node.write("resource_config.json", later.pop())
        return ""

    node.answers("systemctl", systemctl)
    node.write("resource_config.json", listing("10.1.0.99"))
    of(node).follow()
    assert "--conf-server=10.1.0.98\n" in (node.root / OPTIONS["slurmd"]).read_text()
    assert len(node.asked("systemctl", *RESTART)) == 2


def test_a_file_that_stays_half_written_is_an_error_and_changes_nothing(node: SlurmMachine) -> None:
    provide(node, "slurmd")
    node.write("resource_config.json", listing("10.1.0.99")[:50])
    with pytest.raises(NodeError, match=r"resource_config\.json is not complete JSON"):
        of(node).follow()
    assert 5 < node.time.now_s <= follower.WHOLE_TIMEOUT_S
    assert "--conf-server=10.1.0.4\n" in (node.root / OPTIONS["slurmd"]).read_text()


def test_our_scripts_have_nothing_to_restart_after_a_controller_was_followed(node: SlurmMachine) -> None:
    provide(node, "slurmd")
    node.write("resource_config.json", listing("10.1.0.5"))
    of(node).follow()
    node.listening, node.run.commands = {"10.1.0.5"}, []
    slurm_client.apply_worker(slurm_context(here=WORKER, instances=(SECOND_CONTROLLER, WORKER)), node.system)
    assert node.asked("systemctl", "restart") == []


@pytest.mark.parametrize("client", ["slurmd", "sackd", "shells"])
def test_the_watch_of_a_node_knows_the_file_the_group_and_the_client_and_is_set_once(node: SlurmMachine, client: str) -> None:
    provide(node, client)
    assert node.units[f"{follower.UNIT}.path"] == "active enabled"
    units = node.root / "etc/systemd/system"
    assert "PathChanged=resource_config.json\n" in (units / f"{follower.UNIT}.path").read_text()
    service = (units / f"{follower.UNIT}.service").read_text()
    assert f"-m hyperpod_node.slurm.follower resource_config.json controller-machine {client}\n" in service
    assert "StartLimitIntervalSec=0\n" in service
    provide(node, client)
    follower.start(slurm_context(here=WORKER), client, node.system)
    assert {words[0] for words in node.run.named("systemctl")} == {"show"}


def test_a_node_that_cannot_watch_is_in_service_all_the_same(node: SlurmMachine, capsys: pytest.CaptureFixture[str]) -> None:
    node.answers("systemctl", NodeError("`systemctl` ended with status 1: no path units here"))
    follower.start(slurm_context(here=WORKER), "slurmd", node.system)
    assert "warning: this node will not find replaced controllers: `systemctl`" in capsys.readouterr().out


@pytest.mark.fault(66)
@pytest.mark.fault(67)
def test_the_copy_that_outlives_the_scripts_can_follow(node: SlurmMachine) -> None:
    provide(node, "shells")
    node.write("resource_config.json", listing("10.1.0.99"))
    precheck.apply(slurm_context(here=WORKER), node.system)
    program = (
        "from pathlib import Path; from hyperpod_node.slurm.follower import Follower; "
        "from hyperpod_node.system import System; "
        f"root = Path({str(node.root)!r}); "
        "Follower(root / 'resource_config.json', 'controller-machine', 'shells', System(root=root)).follow()"
    )
    environment = {**os.environ, "PYTHONPATH": str(node.path(CODE))}
    done = subprocess.run(
        [sys.executable, "-B", "-c", program], env=environment, cwd="/", check=True, timeout=30, capture_output=True, text=True
    )
    assert "10.1.0.99, not 10.1.0.4" in done.stdout


def test_an_unforeseen_error_is_reported_in_one_line(
    node: SlurmMachine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = node.write("resource_config.json", "[" * 100_000)
    monkeypatch.setattr(sys, "argv", ["follower", str(file), "controller-machine", "slurmd"])
    assert follower.main() == 1
    assert capsys.readouterr().err.startswith("cannot update the addresses of the controllers: unexpected RecursionError: ")
