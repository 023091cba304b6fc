"""Responses of custom resources: the URLs that receive them, and the requests that wait for them."""

import json
import threading
import uuid
from dataclasses import dataclass, field
from datetime import datetime

from local_aws import control
from local_aws.clock import clock
from local_aws.cloudformation import clients
from local_aws.cloudformation.errors import ResourceError
from local_aws.cloudformation.template import Json

ROUTE = "cfn-response"
MOST_BYTES = 4096
REQUIRED = ("Status", "StackId", "RequestId", "LogicalResourceId")


@dataclass
class PendingResponse:
    """A request to a custom resource that waits for its response."""

    token: str = field(default_factory=lambda: uuid.uuid4().hex)
    signed: datetime = field(default_factory=clock.now)
    came: threading.Event = field(default_factory=threading.Event)
    body: bytes = b""

    @property
    def url(self) -> str:
        """Return the URL for the response; it carries its signing time, as S3's presigned URLs do."""
        return f"{clients.endpoint()}{control.PREFIX}{ROUTE}/{self.token}?X-Amz-Date={self.signed:%Y%m%dT%H%M%SZ}"

    def answer(self) -> Json:
        """Return the received response; raise an error if its form is not what CloudFormation accepts."""
        if len(self.body) > MOST_BYTES:
            raise ResourceError("Response object is too long.")
        try:
            answer = json.loads(self.body)
        except ValueError as error:
            raise ResourceError(f"Invalid response object: {error}") from error
        missing = [name for name in REQUIRED if not isinstance(answer, dict) or not answer.get(name)]
        if missing:
            raise ResourceError(f"Invalid response object: {', '.join(missing)} must be given")
        return dict(answer)


_lock = threading.Lock()
_awaited: dict[str, PendingResponse] = {}
_came: list[Json] = []


def expect() -> PendingResponse:
    """Register a request that waits for a response."""
    pending = PendingResponse()
    with _lock:
        _awaited[pending.token] = pending
    return pending


def discard(pending: PendingResponse) -> None:
    """Stop waiting; ignore later responses."""
    with _lock:
        _awaited.pop(pending.token, None)


def receive(request: control.Request) -> None:
    """Receive a response; only the first counts, others are only recorded."""
    token = request.rest.strip("/")
    with _lock:
        pending = _awaited.get(token)
        accepted = pending is not None and not pending.came.is_set()
        _came.append(
            {"token": token, "accepted": accepted, "bytes": len(request.body), "body": request.body.decode(errors="replace")}
        )
        if pending is not None and accepted:
            pending.body = request.body
            pending.came.set()


def list_all(_: control.Request) -> list[Json]:
    """Return every received response in order, and whether it was accepted."""
    with _lock:
        return list(_came)


def reset() -> None:
    """Delete all responses and requests."""
    with _lock:
        _awaited.clear()
        _came.clear()
