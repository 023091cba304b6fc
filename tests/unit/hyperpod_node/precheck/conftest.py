"""A node for the checks: a folder, and programs that print what real ones printed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from hyperpod_node.errors import NodeError
from hyperpod_node.precheck.checked_node import CheckedNode, Facts
from hyperpod_node.system import System

# What programs printed on a simulated node with Slurm 24.11.
DATA = Path(__file__).parents[3] / "data" / "precheck"
MOUNTS = (DATA / "proc-mounts.txt").read_text()
FSX = "10.1.0.9@tcp:/abcdefgh /fsx lustre rw,noatime,flock 0 0\n"
NVME = "/dev/md0 /opt/dlami/nvme ext4 rw 0 0\n"
WITHOUT_FSX = "".join(line for line in MOUNTS.splitlines(keepends=True) if " /fsx " not in line)

FACTS = Facts(
    node="compute-nodes-1",
    role="compute",
    instance_type="ml.p5.48xlarge",
    gpus=8,
    file_system=True,
    homes="/fsx/home",
    users=("ada",),
)


def captured(name: str) -> str:
    return (DATA / name).read_text()


@dataclass
class Programs:
    """Answers by the beginning of the command; what has no answer fails as an unknown program does."""

    answers: Mapping[str, str | NodeError]
    commands: list[str] = field(default_factory=list)

    def __call__(self, program: str, *arguments: str, **_: object) -> str:
        command = " ".join([program, *arguments])
        self.commands.append(command)
        for beginning, answer in self.answers.items():
            if command.startswith(beginning):
                if isinstance(answer, NodeError):
                    raise answer
                return answer
        raise NodeError(f"`{command}`: no such program")


Make = Callable[..., CheckedNode]


@pytest.fixture
def make_node(tmp_path: Path) -> Make:
    """Return a function that creates a node with these programs installed, files, mounts and answers."""

    def make(
        *installed: str,
        files: Mapping[str, str] | None = None,
        mounts: str = MOUNTS,
        answers: Mapping[str, str | NodeError] | None = None,
        facts: Mapping[str, object] | None = None,
    ) -> CheckedNode:
        for name, content in {"proc/mounts": mounts, **(files or {})}.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(content)
        for program in installed:
            path = tmp_path / "usr/bin" / program
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch(mode=0o755)
        system = System(root=tmp_path, run=Programs(answers or {}))
        return CheckedNode(replace(FACTS, **(facts or {})), system)  # type: ignore[arg-type] # by name

    return make
