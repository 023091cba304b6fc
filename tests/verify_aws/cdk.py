"""The project's own deployment: the real `cdk` command line on the cluster file in a folder."""

import contextlib
import os
import shlex
import signal
import subprocess
import sys
import threading
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
    """Runs `cdk` for one cluster file; prints its output line by line."""

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
        shown = ["--require-approval", "never", "--progress", "events"]
        self._run(["deploy", *stacks, *shown, *nag], self._synthesis, timeout_s)

    def destroy(self, timeout_s: float) -> None:
        """Destroy all stacks, as the last deployment synthesized them; raise CdkError unless it succeeds."""
        is_there = (self._assembly / "manifest.json").exists()
        app = ["--app", str(self._assembly)] if is_there else self._synthesis
        self._run(["destroy", f"{self.name}/*", "--force", *NO_NAG], app, timeout_s)

    @property
    def destroy_command(self) -> str:
        """Return the command that a person can run in the checkout."""
        return f"AWS_REGION={self.region} cdk destroy '{self.name}/*' -c clusters={shlex.quote(str(self.folder))}"

    @property
    def _assembly(self) -> Path:
        return self.folder / "cdk.out"

    @property
    def _synthesis(self) -> list[str]:
        app = f"{shlex.quote(sys.executable)} app.py"
        return ["--app", app, "--output", str(self._assembly), "-c", f"clusters={self.folder}"]

    def _run(self, arguments: list[str], app: list[str], timeout_s: float) -> None:
        self.say(f"$ cdk {' '.join(arguments)}")
        command = ["cdk", *arguments, *app, "--no-color", "--ci"]
        environment = {**os.environ, "AWS_REGION": self.region, "AWS_DEFAULT_REGION": self.region}
        # Neither a Ctrl-C nor a closed terminal may end `cdk destroy`: it has its own session, and a pipe for its output.
        process = subprocess.Popen(
            command,
            cwd=PROJECT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        forwarding = threading.Thread(target=self._forward, args=(process,), daemon=True)
        forwarding.start()
        try:
            status = process.wait(timeout_s)
        except subprocess.TimeoutExpired as error:
            raise CdkError(f"`cdk {arguments[0]}` did not end within {timeout_s / 60:.0f} minutes") from error
        finally:
            _end(process)
            forwarding.join(ENDS_WITHIN_S)
        if status:
            raise CdkError(f"`cdk {arguments[0]}` ended with status {status}")

    def _forward(self, process: subprocess.Popen[str]) -> None:
        with process.stdout or contextlib.nullcontext(()) as lines:
            for line in lines:
                self.say(line.rstrip("\n"))


def _end(process: subprocess.Popen[str]) -> None:
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
