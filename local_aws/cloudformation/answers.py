"""The answers of custom resources: where they come in, and who waits for them."""

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
class Awaited:
    """One request that a custom resource has not answered yet."""

    token: str = field(default_factory=lambda: uuid.uuid4().hex)
    signed: datetime = field(default_factory=clock.now)
    came: threading.Event = field(default_factory=threading.Event)
    body: bytes = b""

    @property
    def url(self) -> str:
        """Where the answer goes; it tells when it was signed, as S3's pre-signed addresses do."""
        return f"{clients.endpoint()}{control.PREFIX}{ROUTE}/{self.token}?X-Amz-Date={self.signed:%Y%m%dT%H%M%SZ}"

    def answer(self) -> Json:
        """The answer, once it came; an error if it is not of the form that CloudFormation takes."""
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
_awaited: dict[str, Awaited] = {}
_came: list[Json] = []


def expect() -> Awaited:
    """Be ready for one answer."""
    awaited = Awaited()
    with _lock:
        _awaited[awaited.token] = awaited
    return awaited


def give_up(awaited: Awaited) -> None:
    """Take no answer any more."""
    with _lock:
        _awaited.pop(awaited.token, None)


def receive(request: control.Request) -> None:
    """Take an answer; the first counts, a later one or one that nobody waits for is only recorded."""
    token = request.rest.strip("/")
    with _lock:
        awaited = _awaited.get(token)
        accepted = awaited is not None and not awaited.came.is_set()
        _came.append(
            {"token": token, "accepted": accepted, "bytes": len(request.body), "body": request.body.decode(errors="replace")}
        )
        if awaited is not None and accepted:
            awaited.body = request.body
            awaited.came.set()


def list_all(_: control.Request) -> list[Json]:
    """Every answer that came, in order, and whether it was accepted."""
    with _lock:
        return list(_came)


def reset() -> None:
    """Forget all answers and requests."""
    with _lock:
        _awaited.clear()
        _came.clear()
