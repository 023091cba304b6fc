"""The step that installs the agent, and the lock between it and the lifecycle script."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hyperpod_node.context import Context
from hyperpod_node.errors import NodeError
from hyperpod_node.follow import bundle, lock
from hyperpod_node.follow.memory import Memory
from hyperpod_node.steps import follow
from tests.unit.hyperpod_node.a_node import a_context
from tests.unit.hyperpod_node.fake_system import FakeSystem
from tests.unit.hyperpod_node.follow.fake_aws import FakeAws, error
from tests.unit.hyperpod_node.follow.test_agent import FOLLOW
from tests.unit.hyperpod_node.follow.test_bundle import FILES, sha256_of, write_scripts

TIMER, SERVICE = (f"/etc/systemd/system/hyperpod-follow.{kind}" for kind in ("timer", "service"))


@pytest.fixture
def node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeSystem:
    """A node whose scripts are FILES."""
    monkeypatch.setattr(follow, "SCRIPTS", write_scripts(tmp_path / "tmp/src"))
    return FakeSystem(tmp_path)


def following(is_on: bool = True) -> Context:
    context = a_context()
    return replace(context, settings=replace(context.settings, follow=FOLLOW if is_on else None))


def start(node: FakeSystem, aws: FakeAws) -> bool:
    return follow.keep(following(), node.system) and follow.apply(following(), node.system, aws.aws)


def test_the_agent_runs_from_the_scripts_of_the_node_which_are_reported_as_applied(node: FakeSystem) -> None:
    aws = FakeAws()
    assert start(node, aws)
    assert Memory.load(node.system).sha256 == sha256_of(FILES)
    assert node.path(bundle.CURRENT).readlink() == Path(sha256_of(FILES))
    assert "PYTHONPATH=/opt/hyperpod-cdk/bundles/current\n" in node.path(SERVICE).read_text()
    assert "OnUnitInactiveSec=45s\nRandomizedDelaySec=30s\n" in node.path(TIMER).read_text()
    assert node.run.named("systemctl")[-1] == ("--no-reload", "enable", "--now", "hyperpod-follow.timer")
    [record] = aws.records
    assert (record["result"], record["sha256"], record["generation"]) == ("applied", sha256_of(FILES), 0)


def test_a_second_run_restarts_nothing(node: FakeSystem) -> None:
    start(node, FakeAws())
    first = len(node.run.commands)
    start(node, FakeAws())
    assert node.run.commands[first:] == [("systemctl", "--no-reload", "enable", "--now", "hyperpod-follow.timer")]


def test_a_report_that_fails_is_a_warning_and_the_agent_runs(node: FakeSystem, capsys: pytest.CaptureFixture[str]) -> None:
    assert not start(node, FakeAws(failures=[error(400, "AccessDeniedException")]))
    assert "warning: this node does not report to the cluster yet: logs:PutLogEvents" in capsys.readouterr().out
    assert node.path(TIMER).exists()
    assert len(Memory.load(node.system).unsent) == 1  # for the agent


def test_an_installation_that_fails_is_a_warning(node: FakeSystem, capsys: pytest.CaptureFixture[str]) -> None:
    node.answers("systemctl", NodeError("`systemctl` ended with status 1: no"))
    assert not start(node, FakeAws())
    assert "warning: this node does not follow the cluster file: `systemctl` ended with status 1: no" in capsys.readouterr().out


def test_without_follow_the_agent_is_removed(node: FakeSystem) -> None:
    assert not follow.keep(following(False), node.system)
    assert not follow.apply(following(False), node.system)
    assert node.run.commands == []
    start(node, FakeAws())
    assert follow.apply_live(following(False), node.system)
    assert not node.path(TIMER).exists()
    assert not node.path(SERVICE).exists()
    assert ("disable", "--now", "hyperpod-follow.timer") in node.run.named("systemctl")


def test_live_steps_keep_the_current_bundle_which_the_agent_switches_afterwards(node: FakeSystem) -> None:
    assert follow.apply_live(following(), node.system)
    assert node.path(TIMER).exists()
    assert not node.path(bundle.CURRENT).exists()


def test_only_one_run_holds_the_lock(node: FakeSystem) -> None:
    with lock.held(node.system) as first:
        assert first
        assert node.path(lock.FILE).stat().st_mode & 0o777 == 0o600
        with lock.held(node.system) as second:
            assert not second
        with lock.held(node.system, wait_s=10) as third:
            assert not third
        assert node.time.now_s == 10
    with lock.held(node.system) as fourth:
        assert fourth


def test_a_node_that_ran_older_scripts_again_accepts_the_pointer_that_it_had_applied(node: FakeSystem) -> None:
    memory = Memory.load(node.system)
    memory.sha256, memory.generation, memory.public_key = "a" * 64, 7, "of the cluster before"
    memory.save(node.system)
    for _ in range(2):
        start(node, FakeAws())
        assert Memory.load(node.system).generation == 6
        assert Memory.load(node.system).public_key == ""
