"""Batches of a node's log."""

import threading

import pytest

from local_aws.nodes.agent.log_stream import LogStream

NEVER_S = 3600.0


def test_lines_go_out_together_and_in_order_when_the_block_ends() -> None:
    batches: list[list[str]] = []
    with LogStream(batches.append, NEVER_S) as stream:
        for number in range(3):
            stream.add(str(number))
        assert batches == []
    assert batches == [["0", "1", "2"]]


def test_a_line_goes_out_soon_without_another_one() -> None:
    batches: list[list[str]] = []
    out = threading.Event()

    def write(lines: list[str]) -> None:
        batches.append(lines)
        out.set()

    with LogStream(write, 0.01) as stream:
        stream.add("mounting")
        assert out.wait(10)
        assert batches == [["mounting"]]
        stream.add("mounted")
    assert batches == [["mounting"], ["mounted"]]


def test_the_last_line_is_the_last_one_with_something_in_it() -> None:
    with LogStream(lambda _: None, NEVER_S) as stream:
        assert stream.last_line == ""
        for line in ("a", "  step mount: no such device ", "", "  "):
            stream.add(line)
        assert stream.last_line == "step mount: no such device"


def test_what_was_said_before_a_failure_is_out() -> None:
    batches: list[list[str]] = []

    def break_off() -> None:
        with LogStream(batches.append, NEVER_S) as stream:
            stream.add("before")
            raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        break_off()
    assert batches == [["before"]]
