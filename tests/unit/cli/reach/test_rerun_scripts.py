"""`hpod rerun-scripts` runs the deployed scripts batch by batch, and stops after the first batch with a failure."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from cli.confirm import without_asking
from cli.errors import CommandError
from cli.reach import rerun_scripts as module
from cli.reach.rerun_scripts import HAS_AGENT, node_script, rerun_scripts
from cli.remote.sessions import SessionError
from cli.remote.shell import Output
from cli.result import Result, Show, ignore
from tests.unit.cli.fake_nodes import FakeNodes, FakeShell

URI = "s3://scripts/lifecycle/0123"
HEAD, ENTRY, FIRST, SECOND = (f"i-0000000000000000{letter}" for letter in "abcd")
DONE = Output(0, "step\nlifecycle script done in 1.0 s\n")


def account() -> FakeNodes:
    """A deployed cluster with scripts."""
    found = FakeNodes()
    found.outputs.append({"OutputKey": "LifecycleScripts", "OutputValue": URI, "Description": "scripts"})
    return found


def called(
    *outputs: Output | Exception, node: str | None = None, on: FakeNodes | None = None, show: Show = ignore
) -> tuple[Result, FakeShell]:
    shell = FakeShell(*outputs)
    deployment = (on or account()).deployment()
    return rerun_scripts(deployment, node=node, timeout_s=5, confirm=without_asking, show=show, shell=shell), shell


def applied(*outputs: Output | Exception, show: Show = ignore) -> Result:
    """The result of these outputs, one per node."""
    return called(*outputs, show=show)[0]


def results(result: Result) -> dict[str, Any]:
    assert result.data is not None
    return {each["instance_id"]: each["result"] for each in result.data["nodes"]}


def test_controllers_come_first_and_compute_nodes_last() -> None:
    result, shell = called(DONE, DONE, DONE, Output(0, f"{HAS_AGENT}\n"))
    assert shell.nodes[:2] == [HEAD, ENTRY]
    assert sorted(shell.nodes[2:]) == [FIRST, SECOND]
    assert sorted(results(result).values()) == ["applied", "applied", "applied", "unchanged"]
    assert result.failure == ""
    assert "  unchanged: has an agent" in str(result)


def test_controllers_are_changed_one_by_one_and_other_nodes_five_at_a_time() -> None:
    found = account()
    found.summaries.append(found.summaries[0] | {"InstanceId": "i-0000000000000000e"})
    found.summaries += [found.summaries[3] | {"InstanceId": f"i-000000000000001{number:02}"} for number in range(5)]
    batches: list[object] = []
    called(*[DONE] * 10, on=found, show=batches.append)
    assert [str(batch).partition(":")[0] for batch in batches] == ["1 node", "1 node", "1 node", "5 nodes", "2 nodes"]


def test_a_failure_stops_before_the_next_batch_and_the_other_nodes_are_listed() -> None:
    found = account()
    found.summaries += [found.summaries[3] | {"InstanceId": f"i-000000000000001{number:02}"} for number in range(5)]
    result, shell = called(DONE, DONE, DONE, Output(1, "no space"), *[DONE] * 3, on=found)
    assert len(shell.nodes) == 7
    assert sorted(results(result).values()) == [*["applied"] * 6, "failed", *["not_started"] * 2]
    assert [node for node, state in results(result).items() if state == "not_started"] == [
        "i-00000000000000103",
        "i-00000000000000104",
    ]
    assert result.failure.startswith("1 of 9 nodes failed, 2 not started")


def test_groups_that_are_not_in_the_file_come_last() -> None:
    found = account()
    found.summaries.insert(0, found.summaries[0] | {"InstanceGroupName": "removed", "InstanceId": "i-0000000000000000e"})
    _, shell = called(*[DONE] * 5, on=found)
    assert shell.nodes[-1] == "i-0000000000000000e"


def test_long_messages_are_below_the_table() -> None:
    result = applied(Output(1, f"lifecycle script failed: {'no space ' * 30}"))
    table, messages = map(str, result.text)
    assert max(map(len, table.splitlines())) <= 80
    assert messages.startswith(f"{HEAD}: lifecycle script failed: no space")


def test_a_failure_stops_before_the_next_role() -> None:
    result, shell = called(DONE, Output(1, "step\nlifecycle script failed: no space"))
    assert shell.nodes == [HEAD, ENTRY]
    assert results(result) == {HEAD: "applied", ENTRY: "failed", FIRST: "not_started", SECOND: "not_started"}
    assert result.failure == "1 of 4 nodes failed, 2 not started; fix the cause and run this command again"
    assert "lifecycle script failed: no space" in str(result)


def test_a_node_that_is_not_started_has_failed() -> None:
    result, _ = called(SessionError("not connected"), node="controller")
    assert results(result) == {HEAD: "failed"}


def test_only_running_nodes_of_the_name_are_changed() -> None:
    found = account()
    found.summaries[2]["InstanceStatus"] = {"Status": "Pending"}
    _, shell = called(DONE, node="workers", on=found)
    assert shell.nodes == [SECOND]
    found.summaries[3]["InstanceStatus"] = {"Status": "Pending"}
    with pytest.raises(CommandError, match="workers: no Running node"):
        called(node="workers", on=found)


def test_a_deployment_without_scripts_is_refused() -> None:
    with pytest.raises(CommandError, match="has no output LifecycleScripts; run `cdk deploy"):
        called(on=FakeNodes())


def test_scripts_that_are_not_ours_are_refused() -> None:
    deployment: Any = account().deployment()
    own = deployment.config.lifecycle.model_copy(update={"source": "scripts"})
    deployment.config = deployment.config.model_copy(update={"lifecycle": own})
    with pytest.raises(CommandError, match=r"lifecycle.source: your own scripts may not be safe to run again"):
        rerun_scripts(deployment, node=None, timeout_s=5, confirm=without_asking, shell=FakeShell())


def test_nothing_runs_without_a_yes() -> None:
    def refuse(question: str) -> None:
        raise CommandError(question)

    with pytest.raises(CommandError, match=r"^Run the lifecycle scripts as root on 4 nodes of draft-1"):
        rerun_scripts(account().deployment(), node=None, timeout_s=5, confirm=refuse, shell=FakeShell())


def on_a_node(
    folder: Path, monkeypatch: pytest.MonkeyPatch, *, agent: bool, script: str, uri: str = URI
) -> subprocess.CompletedProcess[str]:
    """What the script does here, with an AWS CLI that copies one script, and a systemd with or without the agent."""
    monkeypatch.setattr(module, "FOLDER", str(folder / "scripts"))
    aws = f'[ "$*" = "s3 cp --only-show-errors --recursive {URI} {folder}/scripts" ] && mkdir {folder}/scripts || exit 9\n'
    programs = {
        "aws": f"{aws}cat >{folder}/scripts/on_create.sh <<'END'\n{script}\nEND",
        "systemctl": f"exit {0 if agent else 1}",
    }
    for name, text in programs.items():
        (folder / name).write_text(f"#!/bin/bash\n{text}\n")
        (folder / name).chmod(0o755)
    environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
    command = ["bash", "-c", node_script(uri)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_a_node_runs_the_downloaded_scripts_again_and_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for status in (0, 3):
        done = on_a_node(tmp_path, monkeypatch, agent=False, script=f"echo ran; exit {status}")
        assert (done.returncode, done.stdout) == (status, "ran\n"), done.stderr


def test_a_node_with_the_agent_downloads_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = on_a_node(tmp_path, monkeypatch, agent=True, script="echo ran")
    assert (done.returncode, done.stdout) == (0, f"{HAS_AGENT}\n")


def test_a_failed_download_is_the_nodes_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on_a_node(tmp_path, monkeypatch, agent=False, script="echo old")
    done = on_a_node(tmp_path, monkeypatch, agent=False, script="echo ran", uri="s3://scripts/denied")
    assert (done.returncode, done.stdout) == (9, "")
