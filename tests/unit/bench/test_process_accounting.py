import struct

import pytest

from tests.bench.nodes.process_accounting import Ended, descendants, parse, programs

FORKED_ONLY = 1


def record(pid: int, parent: int, command: bytes, flag: int = 0, version: int = 3) -> bytes:
    """As <linux/acct.h> lays it out: 64 bytes."""
    head = struct.pack("=BBHIIII", flag, version, 0, 0, 1000, 1000, pid)
    times = struct.pack("=IIf8H", parent, 1700000000, 1.5, *range(8))
    return head + times + command.ljust(16, b"\0")


def test_a_record_names_the_process_and_its_parent() -> None:
    assert parse(record(210, 200, b"systemctl")) == [Ended(210, 200, "systemctl", is_program=True)]


def test_a_name_that_fills_its_field_is_whole() -> None:
    assert parse(record(1, 0, b"0123456789abcdef"))[0].command == "0123456789abcdef"


def test_a_fork_that_started_no_program_is_none() -> None:
    ended = parse(record(1, 0, b"bash", FORKED_ONLY) + record(2, 1, b"ls"))
    assert programs(ended) == 1


def test_a_record_that_is_half_written_is_left_out() -> None:
    content = record(1, 0, b"one") + record(2, 0, b"two")
    assert [one.command for one in parse(content[:-5])] == ["one"]


def test_records_of_the_other_byte_orders_mark_are_read() -> None:
    assert parse(record(7, 1, b"x", version=0x80 | 3))[0].pid == 7


def test_records_without_process_numbers_are_refused_with_the_kernels_option() -> None:
    with pytest.raises(ValueError, match=r"a record of version 2, not 3; the kernel needs CONFIG_BSD_PROCESS_ACCT_V3"):
        parse(record(1, 0, b"x", version=2))


def test_descendants_are_children_and_grandchildren_only() -> None:
    ended = [Ended(30, 20, "grep", True), Ended(20, 10, "bash", True), Ended(40, 1, "slurmd", True), Ended(10, 1, "sh", True)]
    assert sorted(one.command for one in descendants(ended, 10)) == ["bash", "grep"]


def test_where_nothing_was_started_there_are_no_descendants() -> None:
    assert descendants([Ended(10, 1, "sh", True)], 10) == []
