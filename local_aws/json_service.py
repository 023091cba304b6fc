"""Operations that replace moto's: validation against the service model and a lock are the same for all."""

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from local_aws import request_log, request_walker
from local_aws.clock import AwsTime
from local_aws.errors import AwsError
from local_aws.iam import access_key, authorize, session_of

Json = dict[str, Any]
Context = dict[str, str | list[str]]
_Item = TypeVar("_Item")


@dataclass(frozen=True)
class Call:
    """One call of an operation: its caller, account, region and request."""

    account: str
    region: str
    partition: str
    access_key: str
    operation: str
    request: Json

    def arn(self, service: str, rest: str) -> str:
        """Return an ARN in this call's account and region."""
        return f"arn:{self.partition}:{service}:{self.region}:{self.account}:{rest}"

    def authorize(self, action: str, resource: str | None, context: Context | None = None) -> None:
        """Raise AccessDeniedException unless the caller may perform ``action``."""
        keys: Context = {"aws:RequestedRegion": self.region, **(context or {})}
        authorize(self.account, self.access_key, action, resource, keys)

    def time(self, moment: datetime) -> datetime:
        """Return a time as the caller knows it: functions have AWS's clock, all others this machine's."""
        session = session_of(self.access_key)
        is_function = session is not None and session.service == "lambda.amazonaws.com"
        return moment.host if isinstance(moment, AwsTime) and not is_function else moment


Operation = Callable[[Call], Json]


class NotHandledError(Exception):
    """The call is about a resource that moto handles."""


@dataclass(frozen=True)
class JsonService:
    """A service with its own ``operations``; moto handles the others."""

    name: str
    operations: Mapping[str, Operation]
    lock: AbstractContextManager[Any]

    def install_before(self, response_class: Any) -> None:
        """Handle these operations before moto's ``response_class`` does; safe to repeat."""
        original = getattr(response_class, "_moto_call_action", response_class.call_action)

        def call_action(response: Any) -> Any:
            if response._get_action() not in self.operations:
                return original(response)
            try:
                return self._respond(response)
            except NotHandledError:
                return original(response)

        response_class._moto_call_action = original
        response_class.call_action = call_action

    def _respond(self, response: Any) -> Any:
        from moto.core.responses import ActionResult  # noqa: PLC0415  moto is loaded once the environment is set

        try:
            answer = self._answer(self._call(response))
        except AwsError as error:
            return error.code, {"Content-Type": "application/x-amz-json-1.1"}, error.get_body()
        return response.serialized(ActionResult(answer))

    def _answer(self, call: Call) -> Json:
        request_walker.check(self.name, call.operation, call.request)
        request_log.note(self.name, call.operation, call.request)
        with self.lock:
            answer: Json = _with_times(self.operations[call.operation](call), call)
            return answer

    @staticmethod
    def _call(response: Any) -> Call:
        try:
            request = json.loads(response.body or "{}")
        except ValueError as error:
            raise AwsError("SerializationException", f"the request is not JSON: {error}") from error
        return Call(
            account=response.current_account,
            region=response.region,
            partition=response.partition,
            access_key=access_key(response.headers),
            operation=response._get_action(),
            request=request,
        )


def _with_times(value: Any, call: Call) -> Any:
    """Return the answer with its times as the caller knows them."""
    if isinstance(value, dict):
        return {name: _with_times(item, call) for name, item in value.items()}
    if isinstance(value, list):
        return [_with_times(item, call) for item in value]
    return call.time(value) if isinstance(value, AwsTime) else value


def tag_context(tags: Mapping[str, str], kind: str) -> Context:
    """Return condition keys for tags: ``kind`` is `aws:RequestTag` or `aws:ResourceTag`."""
    context: Context = {f"{kind}/{key}": value for key, value in tags.items()}
    return context | ({"aws:TagKeys": list(tags)} if kind == "aws:RequestTag" and tags else {})


def page(call: Call, items: Sequence[_Item], default: int = 100) -> tuple[list[_Item], dict[str, str]]:
    """Return the page of items that the call's MaxResults and NextToken select, with a NextToken if there are more."""
    start = _position(call.request.get("NextToken"))
    end = start + int(call.request.get("MaxResults") or default)
    token = base64.b64encode(f"from:{end}".encode()).decode()
    return list(items[start:end]), {"NextToken": token} if end < len(items) else {}


def _position(token: str | None) -> int:
    if not token:
        return 0
    try:
        return int(base64.b64decode(token, validate=True).decode().removeprefix("from:"))
    except ValueError as error:
        raise AwsError("ValidationException", f"invalid NextToken {token!r}") from error
