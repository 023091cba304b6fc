import struct

import pytest

from tests.bench.nodes.process_accounting import descendants, parse, programs

FORKED_ONLY = 1


def record(pid: int, parent: int, flag: int = 0, version: int = 3) -> bytes:
    """As <linux/acct.h> lays it out: 64 bytes."""
    head = struct.pack("=BBHIIII", flag, version, 0, 0, 1000, 1000, pid)
    return head + struct.pack("=IIf8H", parent, 1700000000, 1.5, *range(8)) + b"0123456789abcdef"


def test_programs_are_counted_among_the_descendants_that_ended() -> None:
    systemd, script = record(40, 1), record(10, 1)
    grandchild, child, fork = record(30, 20, version=0x80 | 3), record(20, 10), record(21, 10, FORKED_ONLY)
    half_written = record(22, 10)[:-5]
    ended = parse(grandchild + fork + child + systemd + script + half_written)
    assert (programs(descendants(ended, 10)), programs(ended)) == (2, 4)


def test_records_without_process_numbers_are_refused_with_the_kernels_option() -> None:
    with pytest.raises(ValueError, match=r"a record of version 2, not 3; the kernel needs CONFIG_BSD_PROCESS_ACCT_V3"):
        parse(record(1, 0, version=2))
