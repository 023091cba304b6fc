"""The project's own deployment: the real `cdk` command line on the cluster file in a folder."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).parents[2]
ENDS_WITHIN_S = 20.0
NO_NAG = ("-c", "nag=false")  # the first deployment has checked the template


class CdkError(Exception):
    """A `cdk` command failed or did not end in time."""


@dataclass(frozen=True)
class Cdk:
    """Runs `cdk` for one cluster file; its output goes to this process's own."""

    folder: Path
    name: str
    region: str
    say: Callable[[str], None]

    def deploy(self, *, first: bool, timeout_s: float) -> None:
        """Deploy all stacks, or only the cluster's in later deployments; raise CdkError unless it succeeds.

        A first deployment that fails is kept until the teardown, with the logs that show why.
        """
        stacks = [f"{self.name}/*", "--no-rollback"] if first else [f"{self.name}/Cluster", "--exclusively"]
        nag = () if first else NO_NAG
        self._run(["deploy", *stacks, "--require-approval", "never", "--progress", "events", *nag], timeout_s)

    def destroy(self, timeout_s: float) -> None:
        """Destroy all stacks; raise CdkError unless it succeeds."""
        self._run(["destroy", f"{self.name}/*", "--force", *NO_NAG], timeout_s)

    @property
    def destroy_command(self) -> str:
        """Return the command that a person can run in the checkout."""
        return f"AWS_REGION={self.region} cdk destroy '{self.name}/*' -c clusters={self.folder}"

    def _run(self, arguments: list[str], timeout_s: float) -> None:
        command = ["cdk", *arguments, "--no-color", "--ci"]
        command += [
            "--app",
            f"{sys.executable} app.py",
            "--output",
            str(self.folder / "cdk.out"),
            "-c",
            f"clusters={self.folder}",
        ]
        self.say(f"$ cdk {' '.join(arguments)}")
        environment = {
            **os.environ,
            "AWS_REGION": self.region,
            "AWS_DEFAULT_REGION": self.region,
            "JSII_SILENCE_WARNING_UNTESTED_NODE_VERSION": "1",
        }
        # In a session of its own: a Ctrl-C in the terminal must not end `cdk destroy`.
        process = subprocess.Popen(command, cwd=PROJECT, env=environment, stdin=subprocess.DEVNULL, start_new_session=True)
        try:
            status = process.wait(timeout_s)
        except subprocess.TimeoutExpired as error:
            raise CdkError(f"`cdk {arguments[0]}` did not end within {timeout_s / 60:.0f} minutes") from error
        finally:
            _end(process)
        if status:
            raise CdkError(f"`cdk {arguments[0]}` ended with status {status}")


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the command with its processes, if it runs; CloudFormation goes on without it."""
    if process.poll() is not None:
        return
    os.killpg(process.pid, signal.SIGTERM)
    end = time.monotonic() + ENDS_WITHIN_S
    while process.poll() is None and time.monotonic() < end:
        time.sleep(0.1)
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
