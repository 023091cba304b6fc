"""What the demo shows, and that what it tells to do next works on the file at hand."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from cli.remote.sessions import missing_plugin
from config.model import ClusterConfig
from local_aws.cdk_output import shorten
from local_aws.credentials import OWNER
from local_aws.demo import EXAMPLES, DemoError, chosen, next_steps
from local_aws.demo.slurm import first_steps, wait_for_workers
from local_aws.environment import aws_environment
from tests import cluster_files
from tests.unit.cli.commands import COMMANDS
from validation.load import parse_cluster

REFERENCE = cluster_files.REFERENCE.read_text()


def event(count: str, status: str, thing: str = "AWS::IAM::Role") -> str:
    return f"reference-Cluster | {count:>5} | 10:23:49 AM | {status:<23} | {thing} | Role (Role123) \n"


def parsed(text: str) -> ClusterConfig:
    config = parse_cluster(text.encode(), "draft")
    assert isinstance(config, ClusterConfig)
    return config


def steps(text: str, *, nodes: bool = True) -> list[str]:
    return [line.strip() for line in next_steps(parsed(text), text, 1.0, nodes=nodes).splitlines()]


def test_a_line_for_each_quarter_of_a_stack_is_shown() -> None:
    lines = [event(f"{done}/8", status) for done in range(9) for status in ("CREATE_COMPLETE", "CREATE_IN_PROGRESS")]
    assert list(shorten(lines)) == [event(f"{done}/8", "CREATE_COMPLETE") for done in (2, 4, 6, 8)]


def test_another_deployment_of_the_stack_is_shown_as_well() -> None:
    lines = [event(f"{done}/2", "UPDATE_COMPLETE") for done in (0, 1, 2, 0, 1, 2)]
    assert list(shorten(lines)) == [lines[1], lines[2], lines[4], lines[5]]


@pytest.mark.parametrize(
    "status",
    ["CREATE_FAILED", "UPDATE_FAILED", "DELETE_FAILED", "ROLLBACK_IN_PROGRESS", "UPDATE_ROLLBACK_COMPLETE", "DELETE_SKIPPED"],
)
def test_every_failure_is_shown_with_all_lines_of_its_reason(status: str) -> None:
    failure = [event("0/8", status), "quota: 2 Instances,\n", "asked: 4\n"]
    assert list(shorten([event("0/8", "CREATE_IN_PROGRESS"), *failure, event("0/8", "DELETE_COMPLETE")])) == failure


def test_assets_are_shown_only_when_they_fail() -> None:
    good = [
        f"reference-Cluster: {line}\n" for line in ("start: Building Bundle", "success: Built Bundle", "success: Published x")
    ]
    bad = ["reference-Cluster: fail: Bundle: no such bucket\n", "\n", " ✅  reference/Cluster\n", "Outputs:\n"]
    assert list(shorten(good + bad)) == bad


def test_values_that_stacks_pass_to_each_other_are_not_shown() -> None:
    own = ["eks-Cluster.ClusterArn = arn\n", "eks-Cluster.NodeRoleArn = arn\n"]
    passed = ["eks-Network.PublishOutputRefVpc8378EB38 = vpc-0\n", "eks-Storage.ExportsOutputFnGetAttFsxArnA1B2 = arn\n"]
    assert list(shorten([own[0], *passed, own[1]])) == own


def test_the_next_step_edits_the_shipped_file_in_one_place(tmp_path: Path) -> None:
    [command] = [line for line in steps(REFERENCE) if line.startswith("sed ")]
    (tmp_path / "clusters").mkdir()
    file = tmp_path / "clusters" / "draft.yaml"
    file.write_text(REFERENCE)
    subprocess.run(["bash", "-c", command], cwd=tmp_path, check=True)
    before: Any = yaml.safe_load(REFERENCE)
    before["instance_groups"][2]["instance_count"] = 6
    assert yaml.safe_load(file.read_text()) == before


@pytest.mark.parametrize("count", [7, 0])
def test_the_next_step_starts_from_the_count_of_the_file(count: int, tmp_path: Path) -> None:
    text = REFERENCE.replace("instance_count: 4", f"instance_count: {count}")
    assert f"sed -i 's/instance_count: {count}\\b/instance_count: {count + 2}/' clusters/draft.yaml" in steps(text)


def test_if_another_group_has_as_many_nodes_the_edit_is_described_in_words() -> None:
    text = REFERENCE.replace("instance_count: 4", "instance_count: 1")
    assert "# edit clusters/draft.yaml: change instance_count of compute-nodes from 1 to 3" in steps(text)
    assert not any(line.startswith("sed ") for line in steps(text))


def test_jobs_take_the_workers_and_the_user_of_the_file() -> None:
    commands = [step.command[5:] for step in first_steps(parsed(REFERENCE), nodes=True)]
    assert [command[0] for command in commands] == ["sinfo", "srun", "sudo", "sacct"]
    assert commands[1][1] == "--nodes=4"
    assert commands[2][2:4] == ("--user=alice", "sbatch")


def test_a_file_without_workers_users_or_accounting_gets_no_jobs_that_need_them() -> None:
    content: Any = yaml.safe_load(REFERENCE)
    del content["users"]
    content["slurm"] = {"accounting": {"database": "none"}}
    assert [step.command[5] for step in first_steps(parsed(yaml.safe_dump(content)), nodes=True)] == ["sinfo", "srun"]
    content["instance_groups"][2]["instance_count"] = 0
    assert [step.command[5] for step in first_steps(parsed(yaml.safe_dump(content)), nodes=True)] == ["sinfo"]


def test_a_shell_is_offered_where_nodes_run() -> None:
    assert any(line.startswith("./hpod ssh draft ") for line in steps(REFERENCE))
    assert not any(line.startswith(("./hpod ssh", "./hpod run")) for line in steps(REFERENCE, nodes=False))


def test_the_commands_to_try_exist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "clusters").mkdir()
    monkeypatch.chdir(tmp_path)
    lines = [line.partition("#")[0].split()[1:] for line in steps(REFERENCE) if line.startswith("./hpod ")]
    assert [name for name, *_ in lines] == ["ssh", "run", "status", "retained"]
    for name, *words in lines:
        assert COMMANDS[name].make_context(name, words).params["cluster"] == "draft"


def test_jobs_wait_until_slurm_has_all_workers(capsys: pytest.CaptureFixture[str]) -> None:
    seen = iter([set(), {"a"}, {"a", "b"}])
    wait_for_workers(2, lambda: next(seen), within_s=30)
    assert capsys.readouterr().out == "\nwaiting up to 30 s for 2 idle workers in Slurm\n"


def test_workers_that_do_not_come_end_the_demo_with_a_line() -> None:
    with pytest.raises(DemoError, match="1 of 2 workers are idle in Slurm after 0 s"):
        wait_for_workers(2, lambda: {"a"}, within_s=0)


def test_the_demo_takes_the_given_file_else_the_only_one_else_the_example_starter(tmp_path: Path) -> None:
    assert chosen("", tmp_path) == (EXAMPLES, "starter")
    (tmp_path / "mine.yaml").touch()
    assert chosen("", tmp_path) == (tmp_path, "mine")
    (tmp_path / "second.yaml").touch()
    assert chosen("", tmp_path) == (EXAMPLES, "starter")
    assert chosen("second", tmp_path) == (tmp_path, "second")


def test_its_shells_have_a_session_manager_plugin_that_hpod_accepts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", aws_environment("http://127.0.0.1:1", "us-west-2", tmp_path, OWNER)["PATH"])
    assert missing_plugin() is None
