"""Jobs of a user, from their submission to what Slurm and their output say of them."""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from tests.nodes.cluster.running import Running

JOBS = "/fsx/home/alice/jobs"
ENDED = {"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "BOOT_FAIL", "OUT_OF_MEMORY"}
WITHIN_S = 120.0
# Each look starts a program on a node, and the job computes on the same two processors.
BETWEEN_LOOKS_S = 0.3

Seen = TypeVar("Seen")


@dataclass(frozen=True)
class Job:
    """A job that was submitted."""

    running: Running
    number: str
    folder: str
    output_name: str

    def facts(self) -> dict[str, str]:
        """What Slurm says of it: `JobState`, `Restarts`, `ExitCode` and so on."""
        said = self.running.run("controller-1", "scontrol", "--oneliner", "show", "job", self.number)
        return dict(word.split("=", 1) for word in said.split() if "=" in word)

    def until_state(self, *states: str) -> dict[str, str]:
        """What Slurm says of it as soon as it is in one of these states."""
        return self._until(self.facts, lambda facts: facts["JobState"] in states)

    def completed(self) -> str:
        """Its output when it has ended well."""
        facts = self.until_state(*ENDED)
        assert facts["JobState"] == "COMPLETED", (facts, self.output())
        return self.output()

    def output(self) -> str:
        """What it has printed so far."""
        return self.running.run("login-1", "bash", "-c", f"cat {self.folder}/{self.output_name} 2>&1 || true")

    def until_checkpoint(self) -> str:
        """The name of its newest checkpoint as soon as there is one."""
        return self._until(self._checkpoint, bool)

    def _checkpoint(self) -> str:
        return self.running.run(
            "login-1", "bash", "-c", f"cat {self.folder}/checkpoints-{self.number}/latest 2>/dev/null || true"
        )

    def _until(self, look: Callable[[], Seen], ok: Callable[[Seen], bool]) -> Seen:
        end = time.monotonic() + WITHIN_S
        while not ok(seen := look()):
            assert time.monotonic() < end, f"still not so after {WITHIN_S:g} s: {seen}; it has printed:\n{self.output()}"
            time.sleep(BETWEEN_LOOKS_S)
        return seen


@dataclass(frozen=True)
class Cluster:
    """A cluster on which alice has the example jobs."""

    running: Running

    def as_alice(self, command: str) -> str:
        """What a command of hers prints on the login node."""
        return self.running.run("login-1", "runuser", "--login", "alice", "--command", command)

    def submit(self, folder: str, script: str, *arguments: str) -> Job:
        """Submit a job as the README says."""
        folder = f"{JOBS}/{folder}"
        number = self.as_alice(f"cd {folder} && sbatch --parsable --nodes=2 {script} {' '.join(arguments)}")
        [name] = re.findall(r"^#SBATCH --job-name=(\S+)$", self.as_alice(f"cat {folder}/{script}"), re.MULTILINE)
        return Job(self.running, number, folder, f"{name}-{number}.out")
