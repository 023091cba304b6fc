"""The state that a node reports."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hyperpod_node.context import Context
from hyperpod_node.errors import NodeError
from hyperpod_node.follow.state import state
from hyperpod_node.node_settings import Accounting
from tests.unit.hyperpod_node.a_node import a_context
from tests.unit.hyperpod_node.fake_system import FakeSystem

MOUNTS = "/dev/root / ext4 rw 0 0\n10.1.0.20@tcp:/abc /fsx lustre rw 0 0\n"
NODES = [
    ("ip-10-1-0-6", "idle", "none"),
    ("ip-10-1-0-6", "idle", "none"),  # in two partitions
    ("ip-10-1-0-7", "mixed+planned", "none"),
    ("ip-10-1-0-8", "allocated", "none"),
    ("ip-10-1-0-9", "idle+drain", "gres/gpu count reported lower than configured (0 < 1)"),
    ("ip-10-1-0-10", "allocated+drain", "broken disk"),
    ("ip-10-1-0-11", "down+not_responding", "Not responding"),
    ("ip-10-1-0-12", "idle+not_responding", "none"),
    ("ip-10-1-0-13", "unknown", "none"),
]


def listed(host: str, words: str, reason: str = "none", version: str = "24.11.5") -> str:
    """A line of sinfo, with the version of a slurmd that has registered."""
    return f"{host:<80}{words:<80}{version:<20}{reason:<200}\n"


DOWN = "Slurmctld(primary) at ip-10-1-0-4 is DOWN\nSlurmctld(backup) at ip-10-1-0-5.example is UP\n"


def controller(database: str = "local") -> Context:
    context = a_context()
    settings = replace(context.settings, accounting=Accounting(database, None, 3306, None))
    return replace(context, role="controller", settings=settings)


@pytest.fixture
def node(tmp_path: Path) -> FakeSystem:
    node = FakeSystem(tmp_path, host="ip-10-1-0-4")
    node.write("/proc/mounts", MOUNTS)
    node.answers("stat", "300 1000\n")
    node.answers("systemctl", "Id=slurmctld.service\nLoadState=loaded\nActiveState=failed\n")
    node.answers("scontrol", "Slurmctld(primary) at ip-10-1-0-4 is UP\n")
    node.answers("sinfo", "".join(listed(*row) for row in NODES))
    return node


FAILS = NodeError("`program` ended with status 1: Unable to contact slurm controller")


def test_a_controller_reports_slurm(node: FakeSystem) -> None:
    found = state(controller(), node.system)
    assert found["services"] == {"slurmctld": "failed"}
    problems = found["slurm"].pop("problems")
    counts = {"nodes": 8, "idle": 1, "allocated": 2, "drained": 2, "down": 2, "joining": 1}
    assert found["slurm"] == {"slurmctld": 1, "slurmdbd": 1} | counts
    assert problems[0] == {"host": "ip-10-1-0-9", "state": "idle+drain", "reason": NODES[4][2]}
    assert [each["host"] for each in problems] == [f"ip-10-1-0-{number}" for number in (9, 10, 11, 12, 13)]
    assert problems[3]["reason"] == ""
    assert problems[4] == {"host": "ip-10-1-0-13", "state": "joining", "reason": ""}


@pytest.mark.parametrize(
    ("words", "version"),
    [
        ("unknown", "24.11.5"),
        *((words, "N/A") for words in ("unknown*", "unknown+not_responding", "unknown+cloud")),
        # Seen with State=CLOUD in Slurm 24.11: a job can be allocated to the node before it exists.
        *((f"{words}+cloud+powered_down", "N/A") for words in ("idle", "allocated")),
        *((words, "N/A") for words in ("idle+cloud", "idle+cloud+not_responding")),
    ],
)
def test_a_node_that_has_not_registered_yet_is_joining_and_not_down(node: FakeSystem, words: str, version: str) -> None:
    node.answers("sinfo", listed("ip-10-1-0-6", words, version=version))
    slurm = state(controller(), node.system)["slurm"]
    assert (slurm["joining"], slurm["idle"], slurm["allocated"], slurm["down"]) == (1, 0, 0, 0)


@pytest.mark.parametrize(("words", "kind"), [("down+cloud+not_responding", "down"), ("idle+cloud+drain", "drained")])
def test_a_node_that_never_registered_is_down_or_drained_once_slurm_says_so(node: FakeSystem, words: str, kind: str) -> None:
    node.answers("sinfo", listed("ip-10-1-0-6", words, version="N/A"))
    assert state(controller(), node.system)["slurm"][kind] == 1


def test_at_most_fifty_problems_are_reported(node: FakeSystem) -> None:
    lines = [listed(f"n{number}", "down", "x") for number in range(60)]
    node.answers("sinfo", "".join(lines))
    slurm = state(controller(), node.system)["slurm"]
    assert (slurm["down"], len(slurm["problems"])) == (60, 50)


def test_daemons_that_do_not_respond_are_reported(node: FakeSystem) -> None:
    for program in ("scontrol", "sinfo", "sacctmgr"):
        node.answers(program, FAILS)
    found = state(controller(), node.system)["slurm"]
    assert (found["slurmctld"], found["slurmdbd"]) == (0, 0)


def test_without_a_controller_that_responds_the_states_of_nodes_are_unknown(
    node: FakeSystem, capsys: pytest.CaptureFixture[str]
) -> None:
    node.answers("sinfo", FAILS)
    found = state(controller(), node.system)["slurm"]
    unknown = ("nodes", "idle", "allocated", "drained", "down", "joining", "problems")
    assert {name: found[name] for name in unknown} == dict.fromkeys(unknown)
    assert "warning: the states of Slurm's nodes are unknown: `program` ended" in capsys.readouterr().out


@pytest.mark.parametrize(("host", "up"), [("ip-10-1-0-4", 0), ("ip-10-1-0-5", 1)])
def test_each_controller_reports_its_own_slurmctld(node: FakeSystem, host: str, up: int) -> None:
    node.host = host
    node.answers("scontrol", NodeError(f"`scontrol ping` ended with status 1: {DOWN}"))
    assert state(controller(), node.system)["slurm"]["slurmctld"] == up


def test_without_a_database_slurmdbd_is_null(node: FakeSystem) -> None:
    assert state(controller("none"), node.system)["slurm"]["slurmdbd"] is None


def test_a_compute_node_reports_disks_and_services_only(node: FakeSystem) -> None:
    disks = [{"path": "/", "free_percent": 30.0}, {"path": "/fsx", "free_percent": 30.0}]
    assert state(a_context(), node.system) == {"disks": disks, "services": {"slurmctld": "failed"}}


def test_a_file_system_that_does_not_respond_is_left_out(node: FakeSystem, capsys: pytest.CaptureFixture[str]) -> None:
    def stat(arguments: tuple[str, ...], _: Any) -> str:
        if arguments[-1] == "/fsx":
            raise NodeError("`stat` did not end within 10 s")
        return "300 1000"

    node.answers("stat", stat)
    assert state(a_context(), node.system)["disks"] == [{"path": "/", "free_percent": 30.0}]
    assert "warning: the free space of /fsx is unknown: `stat` did not end within 10 s" in capsys.readouterr().out


def test_rules_of_the_metadata_service_that_are_gone_are_loaded_again_and_useless_ones_are_reported(node: FakeSystem) -> None:
    node.answers("systemctl", "Id=hyperpod-metadata.service\nLoadState=loaded\nActiveState=active\n")
    assert state(a_context(), node.system)["services"] == {"hyperpod-metadata": "active"}
    node.answers("nft", FAILS)
    node.answers("setpriv", "169.254.169.254\n")
    for status in ("active", "inactive", "failed"):
        node.answers("systemctl", f"Id=hyperpod-metadata.service\nLoadState=loaded\nActiveState={status}\n")
        assert state(a_context(), node.system)["services"] == {"hyperpod-metadata": "open"}
    assert node.run.commands.count(("systemctl", "restart", "hyperpod-metadata.service")) == 3


def test_services_are_left_out_if_systemd_does_not_respond(node: FakeSystem, capsys: pytest.CaptureFixture[str]) -> None:
    node.answers("systemctl", FAILS)
    assert state(a_context(), node.system)["services"] == {}
    assert "warning: the state of the services is unknown" in capsys.readouterr().out
