"""Parse slurm.conf: the agent's part, the managed block, and host list expressions such as ip-10-1-4-[7,9-12],login-1."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

BEGIN = "# BEGIN hyperpod_node: from the cluster file; changes here are overwritten"
END = "# END hyperpod_node"
COMMENTED_OUT = "#hyperpod_node# "  # disables an agent's line whose key our block sets: Slurm logs an error for duplicate keys
# Ends our version of an agent's line; the agent's own follows, commented out.
COMPLETED = "# hyperpod_node: from the cluster file and the next line"
_COMPLETED = re.compile(rf"^[^\n]*{re.escape(COMPLETED)}\n", re.MULTILINE)
_BLOCK = re.compile(rf"^{re.escape(BEGIN)}\n.*?^{re.escape(END)}\n?", re.MULTILINE | re.DOTALL)
_CONTROLLER = re.compile(r"(?P<name>[^\s(#]+)(?:\((?P<address>[^)]+)\))?")
_BRACKETS = re.compile(r"\[([^\]]*)\]")
_BETWEEN_NAMES = re.compile(r",(?![^\[]*\])")


@dataclass(frozen=True)
class Controller:
    """A SlurmctldHost: the name of the host and its address."""

    name: str
    address: str


@dataclass(frozen=True)
class SlurmConf:
    """The agent's part of slurm.conf; ``text`` is without the managed block."""

    text: str

    @classmethod
    def parse(cls, text: str) -> SlurmConf:
        """Return the agent's part of a slurm.conf with or without the managed block."""
        return cls(_COMPLETED.sub("", _BLOCK.sub("", text)).replace(COMMENTED_OUT, ""))

    def value(self, key: str) -> str | None:
        """Return the agent's value of ``key``; the last line counts, as for Slurm."""
        found: list[str] = re.findall(rf"^[ \t]*{key}[ \t]*=[ \t]*([^\s#]+)", self.text, re.MULTILINE | re.IGNORECASE)
        return found[-1] if found else None

    def with_added(self, key: str, word: str) -> str | None:
        """Return the agent's comma-separated value of ``key`` with ``word`` added; None if it has ``word`` already."""
        words = (self.value(key) or "").split(",")
        if word.lower() in (existing.lower() for existing in words):
            return None
        return ",".join([*filter(None, words), word])

    @property
    def controllers(self) -> list[Controller]:
        """Return the controllers in the order of takeover."""
        values = re.findall(r"^[ \t]*SlurmctldHost[ \t]*=[ \t]*(\S+)", self.text, re.MULTILINE | re.IGNORECASE)
        matches = [match for value in values if (match := _CONTROLLER.match(value))]
        return [Controller(match["name"], match["address"] or match["name"]) for match in matches]

    @property
    def nodes(self) -> list[str]:
        """Return the names of all nodes."""
        lines: list[str] = re.findall(r"^[ \t]*NodeName=(\S+)", self.text, re.MULTILINE | re.IGNORECASE)
        return [name for names in lines if names.upper() != "DEFAULT" for name in expand(names)]

    def with_block(self, settings: dict[str, str], more: Sequence[str] = (), *, is_marked: bool = False) -> str:
        """Return the file with the managed block: ``settings``, which override the agent's lines, and ``more`` lines.

        An empty block is written only if ``is_marked``: steps/slurm_client.py looks for it.
        """
        if not settings and not more and not is_marked:
            return self.text
        before = self.text if self.text.endswith("\n") or not self.text else self.text + "\n"
        if settings:
            ours = re.compile(rf"^(?=[ \t]*(?:{'|'.join(settings)})[ \t]*=)", re.MULTILINE | re.IGNORECASE)
            before = ours.sub(COMMENTED_OUT, before)
        lines = "".join(f"{line}\n" for line in [*(f"{key}={value}" for key, value in settings.items()), *more])
        return f"{before}{BEGIN}\n{lines}{END}\n"


def expand(names: str) -> list[str]:
    """Return the host names in the expression ``names``."""
    return [host for part in _BETWEEN_NAMES.split(names) if part for host in _expand_one(part)]


def _expand_one(part: str) -> list[str]:
    match = _BRACKETS.search(part)
    if match is None:
        return [part]
    head, tail = part[: match.start()], part[match.end() :]
    return [host for number in _numbers(match[1]) for host in _expand_one(f"{head}{number}{tail}")]


def _numbers(ranges: str) -> list[str]:
    numbers: list[str] = []
    for item in ranges.split(","):
        first, dash, last = item.partition("-")
        if dash and first.isdigit() and last.isdigit():
            numbers += [str(number).zfill(len(first)) for number in range(int(first), int(last) + 1)]
        else:
            numbers.append(item)
    return numbers
