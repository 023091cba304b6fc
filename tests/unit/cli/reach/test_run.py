"""`hpod run`: srun where it can start the command, sessions elsewhere, and never twice on a node."""

import base64
import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from cli.node_directory import node_directory
from cli.reach.run import fan_out, limited, run
from cli.remote.sessions import SessionError, Target
from cli.remote.shell import Output, ShellError
from cli.result import Result
from tests.unit.cli.fake_nodes import FakeNodes, FakeShell

HEAD, ENTRY, FIRST, SECOND = (f"i-0000000000000000{letter}" for letter in "abcd")
HOSTS = ("ip-10-1-0-9", "ip-10-1-0-10")
SRUN = """\
#!/bin/bash
# Runs the task for each host of --nodelist, at once, and passes on whole lines, as srun does.
touch "$(dirname "$0")/called"
for word; do case $word in --nodelist=*) hosts=${word#*=};; bash) break;; esac; shift; done
for host in ${hosts//,/ }; do SLURMD_NODENAME=$host "$@" | while IFS= read -r line; do echo "$line"; done & done
wait
"""
SINFO = """\
#!/bin/bash
# Lists the hosts of UP that are asked for.
for word; do case $word in --nodes=*) asked=,${word#*=},;; esac; done
for host in $UP; do [[ $asked = *,$host,* ]] && echo $host; done
exit 0
"""


class Controller:
    """Runs scripts here, with srun and sinfo of a cluster."""

    def __init__(self, folder: Path, up: tuple[str, ...] = HOSTS) -> None:
        for name, text in (("srun", SRUN), ("sinfo", SINFO)):
            (folder / name).write_text(text)
            (folder / name).chmod(0o755)
        self.environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "UP": " ".join(up)}

    def run(self, _: Target, script: str, timeout_s: float = 0) -> Output:
        done = subprocess.run(["bash", "-c", script], env=self.environment, capture_output=True, text=True, check=False)
        return Output(done.returncode, done.stdout + done.stderr)


def answered(folder: Path, command: str, up: tuple[str, ...] = HOSTS) -> Mapping[str, Any]:
    return fan_out(Controller(folder, up), Target("id", "head", HEAD), HOSTS, command, 5)


def test_each_host_gives_its_output_and_status(tmp_path: Path) -> None:
    command = 'echo "it\'s $SLURMD_NODENAME"; [ $SLURMD_NODENAME = ip-10-1-0-9 ] || { echo bad >&2; exit 3; }'
    found = answered(tmp_path, command)
    assert found == {
        "ip-10-1-0-9": Output(0, "it's ip-10-1-0-9\n"),
        "ip-10-1-0-10": Output(3, "it's ip-10-1-0-10\nbad\n"),
    }


def test_outputs_of_many_lines_are_not_mixed(tmp_path: Path) -> None:
    found = answered(tmp_path, "seq 20000; printf 'ip-10-1-0-9 >\nno end of line'")
    assert {output.text for output in found.values()} == {
        "".join(f"{number}\n" for number in range(1, 20001)) + "ip-10-1-0-9 >\nno end of line"
    }


def test_hosts_that_do_not_respond_to_slurm_are_left_out(tmp_path: Path) -> None:
    assert answered(tmp_path, "true", HOSTS[:1]).keys() == {HOSTS[0]}
    (tmp_path / "called").unlink()
    assert answered(tmp_path, "true", ()) == {}
    assert not (tmp_path / "called").exists()


def test_a_command_that_kills_its_host_has_no_output(tmp_path: Path) -> None:
    found = answered(tmp_path, "[ $SLURMD_NODENAME = ip-10-1-0-9 ] || kill -KILL $(ps -o ppid= -p $(ps -o ppid= -p $PPID))")
    assert found[HOSTS[0]] == Output(0, "")
    assert found[HOSTS[1]] is None


def test_a_command_is_killed_after_its_time() -> None:
    done = subprocess.run(["bash", "-c", limited("echo begun; sleep 60", 1)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (124, "begun\n")


def test_an_answer_that_was_cut_is_no_output() -> None:
    part = base64.b64encode(b"line\n0").decode()  # which could be the whole
    shell = FakeShell(Output(0, f"{HOSTS[0]} <\n{HOSTS[0]} = QQ\n{HOSTS[0]} >\n{HOSTS[1]} <\n{HOSTS[1]} = {part}\n"))
    found = fan_out(shell, Target("id", "head", HEAD), HOSTS, "true", 5)
    assert [found[host] for host in HOSTS] == [None, None]


def framed(host: str, status: int, text: str) -> str:
    """What a host prints through srun."""
    task = subprocess.run(["base64", "--wrap=0"], input=f"{text}\n{status}", capture_output=True, text=True, check=True).stdout
    return f"{host} <\n{host} = {task}\n{host} >\n"


def called(name: str, *outputs: Output | Exception, words: tuple[str, ...] = ("true",)) -> tuple[Result, FakeShell]:
    shell = FakeShell(*outputs)
    return run(FakeNodes().deployment(), node=name, words=words, timeout_s=5, shell=shell), shell


def data(result: Result) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps(result.data))
    return {node["instance_id"]: (node["exit_code"], node["output"], node["message"]) for node in found["nodes"]}


def test_a_group_takes_one_session_on_the_controller() -> None:
    text = framed(HOSTS[0], 0, "one\n") + framed(HOSTS[1], 4, "two\n")
    result, shell = called("workers", Output(0, text))
    assert shell.nodes == [HEAD]
    assert data(result) == {FIRST: (0, "one\n", None), SECOND: (4, "two\n", None)}
    assert (result.exit_code, result.failure) == (4, "exit status 4: 1 of 2 nodes failed")
    assert f"== ip-10-1-0-10 ({SECOND}): exit status 4\ntwo" in str(result)


def test_nodes_that_srun_did_not_reach_get_a_session() -> None:
    result, shell = called("workers", Output(1, framed(HOSTS[0], 0, "")), Output(0, "late"))
    assert shell.nodes == [HEAD, SECOND]
    assert data(result)[SECOND] == (0, "late", None)


def test_nodes_where_the_command_started_get_no_session() -> None:
    result, shell = called("workers", Output(124, f"{HOSTS[0]} <\n{framed(HOSTS[1], 0, '')}"))
    assert shell.nodes == [HEAD]
    assert data(result)[FIRST] == (None, None, "the command started and did not end")
    assert result.exit_code == 255


def test_without_a_controller_that_answers_each_node_gets_a_session() -> None:
    _, shell = called("workers", SessionError("not connected"), Output(0, ""), Output(0, ""))
    assert sorted(shell.nodes) == [HEAD, FIRST, SECOND]


def test_a_fan_out_that_broke_is_not_repeated() -> None:
    result, shell = called("workers", ShellError("the session ended"))
    assert shell.nodes == [HEAD]
    assert data(result)[FIRST] == (None, None, "the session ended")


def test_all_includes_the_other_roles_in_sessions() -> None:
    text = framed(HOSTS[0], 0, "") + framed(HOSTS[1], 0, "")
    result, shell = called("all", Output(0, text), Output(0, ""), Output(0, ""))
    assert sorted(shell.nodes[1:]) == [HEAD, ENTRY]
    assert (result.failure, len(data(result))) == ("", 4)


def test_one_node_prints_only_its_output() -> None:
    result, shell = called("ip-10-1-0-9", Output(0, "PARTITION\n"))
    assert (str(result), shell.nodes) == ("PARTITION", [FIRST])


def test_one_node_without_output_prints_nothing() -> None:
    assert called("ip-10-1-0-9", Output(0, ""))[0].text == ()


@pytest.mark.parametrize(
    ("words", "command"), [(("df -h | tail -1",), "df -h | tail -1"), (("echo", "a b", "$HOME"), "echo 'a b' '$HOME'")]
)
def test_one_word_is_a_line_for_bash_and_several_are_a_command(words: tuple[str, ...], command: str) -> None:
    result, _ = called("ip-10-1-0-9", Output(0, ""), words=words)
    assert result.data is not None
    assert result.data["command"] == command


def test_a_node_that_is_not_reached_has_no_status() -> None:
    result, _ = called("ip-10-1-0-9", SessionError("not connected"))
    assert data(result)[FIRST] == (None, None, "not connected")
    assert (result.exit_code, str(result)) == (255, "not connected")


def test_a_directory_without_controller_uses_sessions() -> None:
    account = FakeNodes()
    account.summaries = account.summaries[1:]
    shell = FakeShell(Output(0, ""), Output(0, ""))
    run(account.deployment(), node="workers", words=["true"], timeout_s=5, shell=shell)
    assert sorted(shell.nodes) == [FIRST, SECOND]
    assert node_directory(account.deployment(), shell).nodes
