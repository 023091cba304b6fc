"""The few AWS calls of the agent, with the node's role: SSM GetParameter, S3 reads, CloudWatch Logs writes."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from os import environ
from typing import Any
from urllib.parse import quote, urlencode
from xml.etree import ElementTree as ET

from hyperpod_node.errors import NodeError
from hyperpod_node.follow.credentials import InstanceMetadata, signed
from hyperpod_node.follow.http import HttpError, Request, Send, UnavailableError, UnreachableError, send
from hyperpod_node.retry import CLOCK, Clock, RetryPolicy

ATTEMPTS = 4
# Services by their signing names: the name in AWS_ENDPOINT_URL_NAME, and the prefix of X-Amz-Target.
_VARIABLES = {"ssm": "SSM", "s3": "S3", "logs": "CLOUDWATCH_LOGS"}
_TARGETS = {"ssm": "AmazonSSM", "logs": "Logs_20140328"}
_THROTTLED = ("Throttling", "ThrottlingException", "ThrottledException", "TooManyRequestsException", "SlowDown")
_S3 = "{http://s3.amazonaws.com/doc/2006-03-01/}"


class AwsError(NodeError):
    """AWS refused a call."""

    def __init__(self, call: str, code: str, message: str) -> None:
        super().__init__(f"{call}: {code}: {message}")
        self.code = code


@dataclass(frozen=True)
class Parameter:
    """An SSM parameter; ``modified_s`` is the time of its last change in seconds since 1970, None if the response has none."""

    value: str
    modified_s: float | None


@dataclass
class Aws:
    """AWS, as the role of this node may use it."""

    metadata: InstanceMetadata = field(default_factory=InstanceMetadata)
    send: Send = send
    variables: Mapping[str, str] = field(default_factory=lambda: environ)
    clock: Clock = CLOCK
    time: Callable[[], float] = time.time
    attempts: int = ATTEMPTS

    def parameter(self, name: str) -> Parameter:
        """Return an SSM parameter."""
        found = self._json_call("ssm", "GetParameter", {"Name": name}).get("Parameter", {})
        value, modified = found.get("Value"), found.get("LastModifiedDate")
        if not isinstance(value, str):
            raise NodeError(f"SSM parameter {name} has no value")
        return Parameter(value, modified if isinstance(modified, int | float) else None)

    def keys(self, bucket: str, prefix: str) -> list[str]:
        """Return the keys of all objects below ``prefix``."""
        keys: list[str] = []
        query = {"list-type": "2", "prefix": prefix}
        while True:
            page = _parsed(self._s3("ListObjectsV2", bucket, query=query))
            keys += [element.text or "" for element in page.findall(f"{_S3}Contents/{_S3}Key")]
            token = page.findtext(f"{_S3}NextContinuationToken")
            if not token:
                return keys
            query["continuation-token"] = token

    def object(self, bucket: str, key: str) -> bytes:
        """Return the content of an object."""
        return self._s3("GetObject", bucket, key)

    def put_log_events(self, group: str, stream: str, messages: list[str]) -> None:
        """Write ``messages`` to a log stream; create the stream if it does not exist."""
        now = int(self.time() * 1000)
        # Each has its own time, so that readers get them in this order.
        events = [{"timestamp": now + number, "message": message} for number, message in enumerate(messages)]
        content = {"logGroupName": group, "logStreamName": stream, "logEvents": events}
        try:
            self._json_call("logs", "PutLogEvents", content)
        except AwsError as error:
            if error.code != "ResourceNotFoundException":
                raise
            self._json_call("logs", "CreateLogStream", {"logGroupName": group, "logStreamName": stream})
            self._json_call("logs", "PutLogEvents", content)

    def _json_call(self, service: str, action: str, content: dict[str, Any]) -> dict[str, Any]:
        headers = {"Content-Type": "application/x-amz-json-1.1", "X-Amz-Target": f"{_TARGETS[service]}.{action}"}
        request = Request("POST", f"{self._endpoint(service)}/", headers, json.dumps(content).encode())
        text = self._call(f"{service}:{action}", service, request)
        try:
            answer = json.loads(text or "{}")
        except (ValueError, RecursionError):
            raise AwsError(f"{service}:{action}", "InvalidResponse", "the response is not JSON") from None
        return answer if isinstance(answer, dict) else {}

    def _s3(self, action: str, bucket: str, key: str = "", query: Mapping[str, str] | None = None) -> bytes:
        encoded = urlencode(sorted((query or {}).items()), quote_via=quote, safe="")
        url = f"{self._endpoint('s3')}/{bucket}/{quote(key)}" + (f"?{encoded}" if encoded else "")
        return self._call(f"s3:{action} {bucket}/{key or (query or {}).get('prefix', '')}", "s3", Request("GET", url))

    def _endpoint(self, service: str) -> str:
        """Return the URL of a service; the environment may set another, as for the SDKs."""
        region, variables = self.metadata.region, self.variables
        own = variables.get(f"AWS_ENDPOINT_URL_{_VARIABLES[service]}") or variables.get("AWS_ENDPOINT_URL")
        domain = "amazonaws.com.cn" if region.startswith("cn-") else "amazonaws.com"
        return (own or f"https://{service}.{region}.{domain}").rstrip("/")

    def _call(self, call: str, service: str, request: Request) -> bytes:
        """Send a request; repeat it after throttling, errors of the server, and if there is no response."""
        policy = RetryPolicy(timeout_s=60, first_pause_s=1, longest_pause_s=8, clock=self.clock)
        problem = ""
        for attempt in range(1, self.attempts + 1):
            try:
                credentials, region = self.metadata.credentials, self.metadata.region
                return self.send(signed(request, service, region, credentials, self.time()))
            except HttpError as error:
                code, message = _cause(error.content)
                code = code or f"HTTP status {error.status}"
                if not (error.status >= 500 or error.status == 429 or code in _THROTTLED):
                    raise AwsError(call, code, message) from None
                problem = f"{call}: {code}: {message}"
            except UnreachableError as error:
                problem = f"{call}: {error}"
            if attempt < self.attempts:
                self.clock.sleep(policy.pause_s(attempt))
        raise UnavailableError(problem)


def _parsed(content: bytes) -> ET.Element:
    try:
        return ET.fromstring(content)  # noqa: S314  not from users
    except ET.ParseError as error:
        raise NodeError(f"s3:ListObjectsV2: the response is not XML: {error}") from None


def _cause(content: bytes) -> tuple[str, str]:
    """Return the code and the message of an error in JSON or XML."""
    text = content.decode(errors="replace")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        code, message = (re.search(rf"<{name}>(.*?)</{name}>", text, re.DOTALL) for name in ("Code", "Message"))
        return (code[1] if code else ""), (message[1] if message else text[:300] or "no message")
    if not isinstance(found, dict):
        return "", text[:300]
    return str(found.get("__type", "")).rpartition("#")[2], str(found.get("message") or found.get("Message") or "no message")
