"""The one door to programs, with real programs."""

import os
import time
from pathlib import Path

import pytest

from hyperpod_node.errors import NodeError
from hyperpod_node.shell import run


@pytest.mark.fault(70)
def test_a_secret_given_on_stdin_or_in_the_environment_is_in_no_error_and_no_process_list() -> None:
    script = 'read line; tr "\\0" " " </proc/$$/cmdline; echo; echo "${#line} ${#TOKEN}"; exit 3'
    with pytest.raises(NodeError) as caught:
        run("bash", "-c", script, stdin="hunter2\n", environment={"TOKEN": "swordfish"})
    assert "7 9" in str(caught.value)
    assert "hunter2" not in str(caught.value)
    assert "swordfish" not in str(caught.value)


def test_the_environment_is_added_to_the_node_s_own() -> None:
    assert run("bash", "-c", 'echo "$EXTRA $PATH"', environment={"EXTRA": "yes"}).strip() == f"yes {os.environ['PATH']}"


def test_a_program_that_reads_without_input_finds_the_end_at_once() -> None:
    assert run("cat") == ""


@pytest.mark.fault(61)
def test_a_failure_carries_the_last_lines_only_and_as_one_line() -> None:
    with pytest.raises(NodeError) as caught:
        run("bash", "-c", "for i in $(seq 20); do echo line $i >&2; done; exit 7")
    assert str(caught.value).endswith("ended with status 7: line 16 | line 17 | line 18 | line 19 | line 20")


def test_a_failure_that_prints_without_end_is_cut() -> None:
    with pytest.raises(NodeError) as caught:
        run("bash", "-c", "head -c 100000 /dev/zero | tr '\\0' x; exit 1")
    assert len(str(caught.value)) < 1200


def test_output_that_is_no_text_is_no_reason_to_fail() -> None:
    assert run("printf", "a\\377b") == "a\N{REPLACEMENT CHARACTER}b"


def test_what_a_success_says_on_stderr_is_there_for_who_asks() -> None:
    script = ("bash", "-c", "echo out; echo err >&2")
    assert run(*script) == "out\n"
    assert run(*script, with_errors=True) == "out\nerr\n"


@pytest.mark.parametrize("show", [False, True])
def test_a_time_out_ends_what_the_program_started_as_well(tmp_path: Path, show: bool) -> None:
    pid = tmp_path / "pid"
    with pytest.raises(NodeError, match=r"did not end within 0\.5 s"):
        run("bash", "-c", f"sleep 300 & echo $! >{pid}; wait", timeout_s=0.5, show=show)
    deadline = time.monotonic() + 10
    while _is_running(int(pid.read_text())):
        assert time.monotonic() < deadline, "the child of a program that was ended still runs"


def test_shown_output_comes_line_by_line_from_both_streams(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("bash", "-c", "echo one; echo two >&2", show=True) == "one\ntwo"
    assert capsys.readouterr().out == "one\ntwo\n"


def test_a_shown_program_may_leave_a_daemon_behind(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    started = time.monotonic()
    run("bash", "-c", f"sleep 60 & echo $! >{pid}; echo started", show=True)
    assert time.monotonic() - started < 30
    assert _is_running(int(pid.read_text()))
    os.kill(int(pid.read_text()), 9)


def test_a_file_that_cannot_be_run_is_named(tmp_path: Path) -> None:
    file = tmp_path / "program"
    file.write_text("")
    with pytest.raises(NodeError, match=rf"cannot start `{file}`: Permission denied"):
        run(str(file))


def _is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split(") ")[1][0] != "Z"
    except FileNotFoundError:
        return False
