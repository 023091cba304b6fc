"""Which programs ran on a node: the kernel's process accounting (acct(2)), one file for each pid namespace.

It is switched on from outside: a node's own root may not do it, but a process of the machine's root that joins the node's
pid namespace alone may, and writes where the node does not see it. The kernel needs CONFIG_BSD_PROCESS_ACCT, version 3.
"""

import struct
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

# struct acct_v3 of <linux/acct.h>: flag, version, tty, exit status, uid, gid, pid, ppid, begin, elapsed, eight counters, name.
# Its processor times are of no use here: they are cut to hundredths of a second, and most programs take less.
_RECORD = struct.Struct("=BBHIIIIIIf8H16s")
_VERSION = 3
_FORKED_ONLY = 0x01  # AFORK: it forked, and never started a program
_SWITCH_ON = """
import ctypes, sys
open(sys.argv[1], "wb").close()
sys.exit(ctypes.CDLL(None).acct(sys.argv[1].encode()))
"""


class Ended(NamedTuple):
    """A process that has ended, by its number in the node's own count."""

    pid: int
    parent: int
    is_program: bool  # it started a program, and was no mere fork of its parent


def switch_on(hub_pid: int, leader: str, file: Path) -> bool:
    """Note from now on in ``file`` each process that ends on a node; tell whether the kernel does it."""
    into_hub = ("nsenter", "-t", str(hub_pid), "-m", "-p")
    into_node = ("nsenter", "-t", leader, "-p")
    command = (*into_hub, *into_node, "python3", "-I", "-S", "-c", _SWITCH_ON, str(file))
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False).returncode == 0


def parse(content: bytes) -> list[Ended]:
    """All processes that a file tells of, in the order of their ends. A record that is half written is left out."""
    whole = len(content) - len(content) % _RECORD.size
    return [_ended(content[start : start + _RECORD.size]) for start in range(0, whole, _RECORD.size)]


def _ended(record: bytes) -> Ended:
    flag, version, _, _, _, _, pid, parent, *_ = _RECORD.unpack(record)
    if version & 0x7F != _VERSION:  # older records are as long and have no process numbers; the upper bit is the byte order
        raise ValueError(f"a record of version {version}, not {_VERSION}; the kernel needs CONFIG_BSD_PROCESS_ACCT_V3")
    return Ended(pid, parent, not flag & _FORKED_ONLY)


def descendants(ended: Iterable[Ended], root: int) -> list[Ended]:
    """What the process ``root`` started, down to the last; what outlived its parent is not among them."""
    children: dict[int, list[Ended]] = {}
    for one in ended:
        children.setdefault(one.parent, []).append(one)
    found = children.get(root, [])
    for one in found:  # grows while it is read
        found += children.get(one.pid, [])
    return found


def programs(ended: Iterable[Ended]) -> int:
    """How many programs were started."""
    return sum(one.is_program for one in ended)
