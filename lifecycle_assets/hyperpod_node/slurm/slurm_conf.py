"""The text of slurm.conf: HyperPod's agent's part, and the block in it that is ours."""

from __future__ import annotations

import re
from dataclasses import dataclass

from hyperpod_node.slurm.host_list import expand

BEGIN = "# BEGIN hyperpod_node: from the cluster file; changes here are overwritten"
END = "# END hyperpod_node"
COMMENTED_OUT = (
    "#hyperpod_node# "  # before a line of the agent's whose key our block sets: Slurm logs an error for a key that comes twice
)
_BLOCK = re.compile(rf"^{re.escape(BEGIN)}\n.*?^{re.escape(END)}\n?", re.MULTILINE | re.DOTALL)
_CONTROLLER = re.compile(r"(?P<name>[^\s(#]+)(?:\((?P<address>[^)]+)\))?")


@dataclass(frozen=True)
class Controller:
    """One SlurmctldHost: the name of the host and the address at which others reach it."""

    name: str
    address: str


@dataclass(frozen=True)
class SlurmConf:
    """The agent's part of slurm.conf: ours is taken out of ``text``."""

    text: str

    @classmethod
    def parse(cls, text: str) -> SlurmConf:
        """Read a slurm.conf, with or without our block."""
        return cls(_BLOCK.sub("", text).replace(COMMENTED_OUT, ""))

    def value(self, key: str) -> str | None:
        """What the agent set ``key`` to; the last line counts, as for Slurm."""
        found: list[str] = re.findall(rf"^[ \t]*{key}[ \t]*=[ \t]*([^\s#]+)", self.text, re.MULTILINE | re.IGNORECASE)
        return found[-1] if found else None

    def with_added(self, key: str, word: str) -> str | None:
        """The agent's comma-separated value of ``key`` with ``word`` in it; None where it is there already."""
        words = (self.value(key) or "").split(",")
        if word.lower() in (there.lower() for there in words):
            return None
        return ",".join([*filter(None, words), word])

    @property
    def controllers(self) -> list[Controller]:
        """The controllers in the order in which they take over from each other."""
        values = re.findall(r"^[ \t]*SlurmctldHost[ \t]*=[ \t]*(\S+)", self.text, re.MULTILINE | re.IGNORECASE)
        matches = [match for value in values if (match := _CONTROLLER.match(value))]
        return [Controller(match["name"], match["address"] or match["name"]) for match in matches]

    @property
    def nodes(self) -> list[str]:
        """The names of all nodes."""
        lines: list[str] = re.findall(r"^[ \t]*NodeName=(\S+)", self.text, re.MULTILINE | re.IGNORECASE)
        return [name for names in lines if names.upper() != "DEFAULT" for name in expand(names)]

    def with_block(self, settings: dict[str, str]) -> str:
        """The whole file, with ``settings`` in our block at its end instead of what the agent says of the same keys."""
        if not settings:
            return self.text
        ours = re.compile(rf"^(?=[ \t]*(?:{'|'.join(settings)})[ \t]*=)", re.MULTILINE | re.IGNORECASE)
        before = ours.sub(COMMENTED_OUT, self.text if self.text.endswith("\n") or not self.text else self.text + "\n")
        lines = "".join(f"{key}={value}\n" for key, value in settings.items())
        return f"{before}{BEGIN}\n{lines}{END}\n"
