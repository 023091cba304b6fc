"""The user's own scripts run in order, know their node, and end it by name when they fail."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from cluster_resource.waves import WAVE_S
from hyperpod_node.errors import NodeError
from hyperpod_node.follow import agent
from hyperpod_node.steps import extra_scripts
from hyperpod_node.system import SYSTEM
from tests.unit.hyperpod_node.a_node import a_context
from tests.unit.hyperpod_node.fake_system import FakeSystem


@pytest.fixture
def point(tmp_path: Path) -> Path:
    folder = tmp_path / "extra" / "before_slurm"
    folder.mkdir(parents=True)
    return folder


def test_scripts_run_in_the_order_of_their_names_by_their_first_line_or_bash(
    tmp_path: Path, point: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (point / "20-shell.sh").write_text('echo "$BASH_VERSION" | grep -q . && echo second\n')
    (point / "10-python").write_text("#!/usr/bin/env python3\nprint('first')\n")
    (point / "30-options").write_text("#!/bin/bash -e\nfalse | true\necho third\n")
    for script in point.iterdir():
        script.chmod(0o644)
    extra_scripts.before_slurm(a_context(bundle=tmp_path), SYSTEM)
    assert capsys.readouterr().out.splitlines() == [
        "extra/before_slurm/10-python",
        "first",
        "extra/before_slurm/20-shell.sh",
        "second",
        "extra/before_slurm/30-options",
        "third",
    ]


def test_a_script_knows_where_it_runs(tmp_path: Path, point: Path) -> None:
    (point / "script").write_text("")
    node = FakeSystem(tmp_path)
    extra_scripts.before_slurm(a_context(bundle=tmp_path), node.system)
    assert node.run.environments == [
        {
            "HYPERPOD_ROLE": "compute",
            "HYPERPOD_GROUP": "compute-nodes",
            "HYPERPOD_NODE_NAME": "compute-nodes-1",
            "HYPERPOD_CLUSTER_NAME": "ml-cluster",
            "HYPERPOD_CONTROLLER_ADDRESSES": "10.1.0.4",
        }
    ]


@pytest.mark.fault(61)
def test_a_failing_script_ends_the_node_with_its_name_and_its_last_lines(tmp_path: Path, point: Path) -> None:
    (point / "a-fails").write_text("echo reason >&2\nexit 4\n")
    (point / "b-never").write_text(f"touch {tmp_path}/ran\n")
    with pytest.raises(NodeError, match=r"^extra/before_slurm/a-fails: .* ended with status 4: reason$"):
        extra_scripts.before_slurm(a_context(bundle=tmp_path), SYSTEM)
    assert not (tmp_path / "ran").exists()


def test_a_bundle_without_own_scripts_runs_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for step in (extra_scripts.before_slurm, extra_scripts.after_slurm, extra_scripts.controller_ready):
        assert step(a_context(bundle=tmp_path), SYSTEM) is False
    assert capsys.readouterr().out == ""


def test_folders_and_hidden_files_are_no_scripts(tmp_path: Path, point: Path) -> None:
    (point / "lib").mkdir()
    (point / ".DS_Store").write_bytes(b"\0")
    node = FakeSystem(tmp_path)
    extra_scripts.before_slurm(a_context(bundle=tmp_path), node.system)
    assert node.run.commands == []


@pytest.mark.parametrize(
    ("folder", "step", "took_s", "problem"),
    [
        ("before_slurm", extra_scripts.before_slurm, extra_scripts.TIMEOUT_S / 2, "30: no time is left"),
        ("live", extra_scripts.live, extra_scripts.LIVE_TIMEOUT_S, "20: no time is left: earlier scripts used the 300 s"),
    ],
)
def test_the_scripts_of_a_folder_share_the_time_for_which_others_wait(
    tmp_path: Path, folder: str, step: Callable[..., bool], took_s: float, problem: str
) -> None:
    node = FakeSystem(tmp_path)
    for name in ("10", "20", "30"):
        node.write(f"extra/{folder}/{name}", "")

    def slow(*_: object) -> str:
        node.time.now_s += took_s
        return ""

    node.answers("bash", slow)
    with pytest.raises(NodeError, match=rf"^extra/{folder}/{problem}"):
        step(a_context(bundle=tmp_path), node.system)
    assert len(node.run.commands) == int(problem[0]) - 1


def test_live_scripts_share_less_time_than_a_deployment_waits_for_running_nodes() -> None:
    assert extra_scripts.LIVE_TIMEOUT_S < agent.LIVE_TIMEOUT_S < WAVE_S
