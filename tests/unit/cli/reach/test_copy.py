"""`hpod copy` calls scp with a configuration of its own."""

from pathlib import Path

import pytest

from cli.errors import CommandError
from cli.reach import copy as module
from cli.reach.copy import copy, node_of
from cli.remote.shell import Output
from cli.result import Result
from tests.unit.cli.fake_nodes import FakeNodes, FakeShell

NODE = "i-0000000000000000c"


@pytest.mark.parametrize(
    ("source", "destination", "node"),
    [
        ("a", "workers-1:", "workers-1"),
        ("10.1.0.9:/var/log", ".", "10.1.0.9"),
        ("./a:b", "login:c:d", "login"),
        ("/x/a:b", "n:", "n"),
    ],
)
def test_the_node_is_on_the_side_with_a_colon(source: str, destination: str, node: str) -> None:
    assert node_of(source, destination) == node


@pytest.mark.parametrize(("source", "destination", "problem"), [("a", "b", "neither is"), ("a:b", "c:d", "both are")])
def test_one_side_is_on_a_node(source: str, destination: str, problem: str) -> None:
    with pytest.raises(CommandError, match=f"{problem} on .*; write one of them as NODE:PATH"):
        node_of(source, destination)


def copied(folder: Path, monkeypatch: pytest.MonkeyPatch, status: int = 0, keys: str = "10.1.0.9 ssh-ed25519 AAAA\n") -> Result:
    """The result with an scp that prints its arguments and its configuration into a file."""
    program = folder / "scp"
    program.write_text(
        f'#!/bin/sh\n{{ echo "$@"; cat "$2"; cat "$(dirname $2)/known_hosts"; }} >{folder}/called\nexit {status}\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.setattr(module, "require_aws_cli", lambda: None)
    shell = FakeShell(Output(0, keys))
    return copy(
        FakeNodes().deployment(), source="local", destination="ip-10-1-0-9:/tmp/", user="alice", identity=None, shell=shell
    )


def test_scp_gets_the_node_and_its_host_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = copied(tmp_path, monkeypatch)
    called = (tmp_path / "called").read_text()
    assert f" -r -p -- local {NODE}:/tmp/\n" in called
    assert f"--target sagemaker-cluster:abcdefghijkl_workers-{NODE} " in called
    assert f"{NODE} ssh-ed25519 AAAA" in called
    assert str(result) == "copied local to ip-10-1-0-9:/tmp/"


def test_a_failure_of_scp_is_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CommandError, match="scp ended with exit status 7 as user alice"):
        copied(tmp_path, monkeypatch, status=7)


def test_without_a_host_key_scp_does_not_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CommandError, match="its sshd sent no host key"):
        copied(tmp_path, monkeypatch, keys="")
    assert not (tmp_path / "called").exists()
