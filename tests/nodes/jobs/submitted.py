"""Jobs of a user, from their submission to what Slurm and their output say of them."""

import re
from dataclasses import dataclass

from tests.local.hyperpod.world import until
from tests.nodes.cluster.running import Running

JOBS = "/fsx/home/alice/jobs"
ENDED = {"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "BOOT_FAIL", "OUT_OF_MEMORY"}
WITHIN_S = 90.0


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
        try:
            seen: dict[str, str] = until(self.facts, lambda facts: facts["JobState"] in states, WITHIN_S)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.output()}") from error
        return seen

    def completed(self) -> str:
        """Its output when it has ended well."""
        facts = self.until_state(*ENDED)
        assert facts["JobState"] == "COMPLETED", (facts, self.output())
        return self.output()

    def output(self) -> str:
        """What it has printed so far."""
        return self.running.run("login-1", "bash", "-c", f"cat {self.folder}/{self.output_name} 2>&1 || true")

    def checkpoint(self) -> str:
        """The name of its newest checkpoint, empty while there is none."""
        return self.running.run(
            "login-1", "bash", "-c", f"cat {self.folder}/checkpoints-{self.number}/latest 2>/dev/null || true"
        )


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
