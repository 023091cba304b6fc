"""Sessions of Session Manager on nodes of a HyperPod cluster."""

import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError

from cli.errors import CommandError
from cli.remote.plugin import PLUGIN

RESPONSE = "AWS_SSM_START_SESSION_RESPONSE"
RETRY_S = 5.0


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
                    raise SessionError(_refusal(target, error)) from error
                self.sleep(RETRY_S)
            else:
                return {name: response[name] for name in ("SessionId", "TokenValue", "StreamUrl")}


def _refusal(target: Target, error: ClientError) -> str:
    code, message = error.response["Error"]["Code"], error.response["Error"].get("Message", "")
    if code == "TargetNotConnected":
        return (
            f"{target.instance}: its Session Manager agent is not connected; wait until the node is Running, and check that "
            "its role allows ssmmessages and that its subnet reaches Session Manager"
        )
    return f"{target.instance}: StartSession failed: {code}: {message}"
