"""`cdk` ends with a run, and neither a closed terminal nor its output ends a teardown."""

import os
import pty
import subprocess
import sys
import time
from pathlib import Path
from unittest.mock import Mock

import pytest

from tests.verify_aws import printing
from tests.verify_aws.cdk import PROJECT, Cdk, CdkError


def fake_cdk(tmp_path: Path, script: str) -> str:
    (tmp_path / "cdk").write_text(f"#!/bin/sh\n{script}\n")
    (tmp_path / "cdk").chmod(0o755)
    return f"{tmp_path}:/usr/bin:/bin"


def test_an_interrupted_command_ends_with_its_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    child = tmp_path / "child"
    script = f"sleep 60 &\necho $! > {child}.new; mv {child}.new {child}\nwait"
    monkeypatch.setenv("PATH", fake_cdk(tmp_path, script))
    cdk = Cdk(tmp_path, "verify", "us-west-2", lambda _: None)
    with pytest.raises(CdkError, match="did not end within 0 minutes"):
        cdk.destroy(2.0)
    pid = int(child.read_text())
    end = time.monotonic() + 5
    while Path(f"/proc/{pid}/stat").exists() and Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z":
        assert time.monotonic() < end
        time.sleep(0.05)


CLOSED_TERMINAL = """
import sys
from pathlib import Path
from tests.verify_aws.cdk import Cdk
from tests.verify_aws.printing import say

sys.stdin.readline()
Cdk(Path(sys.argv[1]), "verify", "us-west-2", say).destroy(20.0)
"""


def test_output_of_cdk_is_forwarded_line_by_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", fake_cdk(tmp_path, "echo one; echo two >&2"))
    said: list[str] = []
    Cdk(tmp_path, "verify", "us-west-2", said.append).destroy(20.0)
    assert said[1:] == ["one", "two"]


def test_cdk_destroys_without_a_terminal(tmp_path: Path) -> None:
    path = fake_cdk(tmp_path, f"echo deleting || exit 1; touch {tmp_path / 'deleted'}")
    master, terminal = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", CLOSED_TERMINAL, str(tmp_path)],
        cwd=PROJECT,
        env={**os.environ, "PATH": path},
        stdin=subprocess.PIPE,
        stdout=terminal,
        stderr=terminal,
    )
    os.close(terminal)
    os.close(master)
    process.communicate(b"\n", timeout=30)
    assert (tmp_path / "deleted").exists()


@pytest.mark.parametrize("error", [OSError("EIO"), UnicodeError("no such character")])
def test_output_that_cannot_be_printed_ends_nothing(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    stdout = Mock(write=Mock(side_effect=error))
    monkeypatch.setattr(sys, "stdout", stdout)
    printing.say("text")
    stdout.write.assert_called()


def test_a_line_of_a_signals_handler_is_printed_during_another_print(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    busy = Mock(side_effect=RuntimeError("reentrant call inside <_io.BufferedWriter name='<stdout>'>"))
    monkeypatch.setattr(sys, "stdout", Mock(write=busy, fileno=Mock(return_value=writing)))
    printing.say("SIGINT: text")
    assert os.read(reading, 100) == b"SIGINT: text\n"
