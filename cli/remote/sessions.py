"""Sessions of Session Manager on nodes of a HyperPod cluster, and the plugin that opens them."""

import json
import os
import platform
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError

from cli.errors import CommandError

RESPONSE = "AWS_SSM_START_SESSION_RESPONSE"
RETRY_S = 5.0
PLUGIN = "session-manager-plugin"
GUIDE = "https://docs.aws.amazon.com/systems-manager/latest/userguide/session-manager-working-with-install-plugin.html"
DOWNLOADS = "https://s3.amazonaws.com/session-manager-downloads/plugin/latest"
# From here on the plugin reads the session's token from the environment, where other users of this machine do not see it.
OLDEST = (1, 2, 498, 0)
_LINUX = {"x86_64": "64bit", "amd64": "64bit", "aarch64": "arm64", "arm64": "arm64"}
_MAC = {"x86_64": "mac", "arm64": "mac_arm64"}
_PACKAGES = (
    ({"debian", "ubuntu"}, f"curl -o {PLUGIN}.deb {DOWNLOADS}/ubuntu_{{}}/{PLUGIN}.deb && sudo dpkg -i {PLUGIN}.deb"),
    ({"amzn", "rhel", "centos", "fedora"}, f"sudo yum install -y {DOWNLOADS}/linux_{{}}/{PLUGIN}.rpm"),
)
"""The commands that install a package, by families of Linux; the architecture is left out."""


class SessionError(CommandError):
    """A session did not start, or ended too early."""


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
class Session:
    """A session to be opened by the plugin: its command, and the environment with the session's token."""

    id: str
    command: list[str]
    environment: Mapping[str, str]


@dataclass(frozen=True)
class Sessions:
    """Starts sessions, as `aws ssm start-session` does; a new node may need minutes to connect."""

    ssm: Any
    profile: str = ""
    connect_timeout_s: float = 0
    sleep: Callable[[float], None] = time.sleep

    def start(self, target: Target, document: str = "", parameters: Mapping[str, list[str]] | None = None) -> Session:
        """Start a session with a document, or with the default document of shells."""
        request: dict[str, Any] = {"Target": str(target)}
        if document:
            request |= {"DocumentName": document, "Parameters": dict(parameters or {})}
        response = json.dumps(self._response(target, request))
        meta = self.ssm.meta
        command = [PLUGIN, RESPONSE, meta.region_name, "StartSession", self.profile, json.dumps(request), meta.endpoint_url]
        return Session(json.loads(response)["SessionId"], command, {**os.environ, RESPONSE: response})

    def terminate(self, session: Session) -> None:
        """End a session that is still open."""
        self.ssm.terminate_session(SessionId=session.id)

    def _response(self, target: Target, request: dict[str, Any]) -> dict[str, str]:
        end = time.monotonic() + self.connect_timeout_s
        while True:
            try:
                response = self.ssm.start_session(**request)
            except ClientError as error:
                if error.response["Error"]["Code"] != "TargetNotConnected" or time.monotonic() >= end:
                    raise _refusal(target, error) from error
                self.sleep(RETRY_S)
            else:
                return {name: response[name] for name in ("SessionId", "TokenValue", "StreamUrl")}


def _refusal(target: Target, error: ClientError) -> SessionError:
    code, message = error.response["Error"]["Code"], error.response["Error"].get("Message", "")
    if code == "TargetNotConnected":
        fix = "wait until the node is Running, and check that its role allows ssmmessages and its subnet reaches Session Manager"
        return SessionError(f"{target.instance}: its Session Manager agent is not connected", fix)
    return SessionError(f"{target.instance}: StartSession failed: {code}: {message}")


def missing_plugin() -> CommandError | None:
    """Return why the plugin cannot be used; None if it can."""
    if shutil.which(PLUGIN) is None:
        return CommandError(f"{PLUGIN}: not in PATH", install_hint())
    version = subprocess.run([PLUGIN, "--version"], capture_output=True, text=True, check=False).stdout.strip()
    if tuple(int(part) for part in re.findall(r"\d+", version)) < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        return CommandError(f"{PLUGIN}: version {version or 'unknown'} is older than {oldest}", install_hint())
    return None


def install_hint() -> str:
    """Return the instruction to install the plugin on this system."""
    command = install_command(platform.system(), platform.machine(), _os_release(), has_brew=shutil.which("brew") is not None)
    return f"install it: {command or GUIDE}"


def install_command(system: str, machine: str, release: Mapping[str, str], *, has_brew: bool) -> str:
    """Return the shell command that installs the plugin; empty if AWS publishes no package for the system."""
    if system == "Darwin":
        return _on_mac(machine, has_brew=has_brew)
    architecture = _LINUX.get(machine.lower())
    if system != "Linux" or architecture is None:
        return ""
    families = {release.get("ID", ""), *release.get("ID_LIKE", "").split()}
    return next((command.format(architecture) for names, command in _PACKAGES if families & names), "")


def _on_mac(machine: str, *, has_brew: bool) -> str:
    if has_brew:
        return f"brew install --cask {PLUGIN}"
    if machine not in _MAC:
        return ""
    installed = f"/usr/local/sessionmanagerplugin/bin/{PLUGIN}"
    return (
        f"curl -o {PLUGIN}.pkg {DOWNLOADS}/{_MAC[machine]}/{PLUGIN}.pkg && sudo installer -pkg {PLUGIN}.pkg -target / && "
        f"sudo ln -s {installed} /usr/local/bin/{PLUGIN}"
    )


def _os_release() -> Mapping[str, str]:
    try:
        return platform.freedesktop_os_release()
    except OSError:  # macOS, Windows
        return {}
