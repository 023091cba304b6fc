"""Commands on the nodes of a HyperPod cluster, through Session Manager."""

import base64
import json
import os
import pty
import re
import secrets
import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from botocore.exceptions import ClientError

PLUGIN = "session-manager-plugin"
DOCUMENT = "AWS-StartNonInteractiveCommand"
INSTALL = "https://docs.aws.amazon.com/systems-manager/latest/userguide/session-manager-working-with-install-plugin.html"
# From here on the plugin reads the session's token from the environment, where other users of this machine do not see it.
OLDEST = (1, 2, 498, 0)
RESPONSE = "AWS_SSM_START_SESSION_RESPONSE"
CONNECTS_WITHIN_S = 300.0


class ShellError(Exception):
    """A command did not reach the node, or its end did not come back."""


@dataclass(frozen=True)
class Target:
    """A node of a cluster."""

    cluster_id: str
    group: str
    instance: str

    def __str__(self) -> str:
        """Return the node as Session Manager names it."""
        return f"sagemaker-cluster:{self.cluster_id}_{self.group}-{self.instance}"


@dataclass(frozen=True)
class Output:
    """The exit status of a command and what it printed."""

    status: int
    text: str


class Shell(Protocol):
    """Runs commands on nodes."""

    def run(self, target: Target, script: str, timeout_s: float = 120.0) -> Output:
        """Run a bash script as root and return its output; raise ShellError if it did not end."""


def missing_plugin() -> str:
    """Return why the plugin cannot be used, with the fix; empty if it can."""
    if shutil.which(PLUGIN) is None:
        return f"{PLUGIN}: not in PATH; install it: {INSTALL}"
    version = subprocess.run([PLUGIN, "--version"], capture_output=True, text=True, check=False).stdout.strip()
    if tuple(int(part) for part in re.findall(r"\d+", version)) < OLDEST:
        return f"{PLUGIN}: version {version or 'unknown'} is too old; install {'.'.join(map(str, OLDEST))} or newer: {INSTALL}"
    return ""


@dataclass(frozen=True)
class SessionManagerShell:
    """Runs commands in sessions of Session Manager, as `aws ssm start-session` does."""

    ssm: Any
    profile: str = ""
    sleep: Callable[[float], None] = time.sleep

    def run(self, target: Target, script: str, timeout_s: float = 120.0) -> Output:
        """Run a bash script as root and return its output; raise ShellError if it did not end."""
        mark = secrets.token_hex(8)
        request = {"Target": str(target), "DocumentName": DOCUMENT, "Parameters": {"command": [framed(script, mark)]}}
        session = self._start(request)
        try:
            printed = self._plugin(session, request, timeout_s)
        except subprocess.TimeoutExpired as error:
            self.ssm.terminate_session(SessionId=session["SessionId"])
            raise ShellError(f"{target}: the command did not end within {timeout_s:.0f} s") from error
        return unframed(printed, mark, str(target))

    def _start(self, request: dict[str, Any]) -> dict[str, str]:
        """Start a session; a new node may need minutes to connect."""
        end = time.monotonic() + CONNECTS_WITHIN_S
        while True:
            try:
                response = self.ssm.start_session(**request)
            except ClientError as error:
                if error.response["Error"]["Code"] != "TargetNotConnected" or time.monotonic() > end:
                    raise ShellError(f"{request['Target']}: {error}") from error
                self.sleep(5)
            else:
                return {name: response[name] for name in ("SessionId", "TokenValue", "StreamUrl")}

    def _plugin(self, session: dict[str, str], request: dict[str, Any], timeout_s: float) -> str:
        """Run the plugin and return what it printed.

        Its input must be a terminal: https://github.com/aws/amazon-ssm-agent/issues/354.
        """
        meta = self.ssm.meta
        command = [PLUGIN, RESPONSE, meta.region_name, "StartSession", self.profile, json.dumps(request), meta.endpoint_url]
        master, slave = pty.openpty()
        try:
            done = subprocess.run(
                command,
                env={**os.environ, RESPONSE: json.dumps(session)},
                stdin=slave,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # a Ctrl-C in the terminal does not reach it
                timeout=timeout_s,
                check=False,
            )
        finally:
            os.close(master)
            os.close(slave)
        return done.stdout.decode(errors="replace")


def framed(script: str, mark: str) -> str:
    """Return a command that prints the script's output between marks, with its exit status.

    It is the same for an agent that starts a shell and for one that splits words, because the script is encoded.
    """
    text = base64.b64encode(script.encode()).decode()
    run = f'bash -c "$(echo {text} | base64 -d)" </dev/null 2>&1'
    return f"bash -c 'echo {mark}-begin; {run}; status=$?; echo; echo {mark}-end-$status-'"


def unframed(printed: str, mark: str, target: str) -> Output:
    """Return the output between the marks; raise ShellError without both."""
    text = printed.replace("\r", "")
    found = re.search(rf"^{mark}-begin\n(.*)\n{mark}-end-(\d+)-$", text, re.DOTALL | re.MULTILINE)
    if found is None:
        raise ShellError(f"{target}: the session ended without the command's end; it printed: {text.strip()[-500:]}")
    return Output(int(found[2]), found[1])
