"""The history of an execution, in the order, pages and detail that a request asks for; moto ignores all three."""

from typing import Any

from moto.core.responses import ActionResult
from moto.stepfunctions.responses import StepFunctionResponse

from local_aws import limits
from local_aws.errors import AwsError

_get_execution_history = StepFunctionResponse.get_execution_history
_HISTORY = ("states:GetExecutionHistory", "maxResults")
_DATA = ("input", "inputDetails", "output", "outputDetails")


def _selected(self: Any) -> ActionResult:
    """Return GetExecutionHistory's response."""
    most = self._get_int_param("maxResults") or limits.LIMITS[_HISTORY]
    limits.require(*_HISTORY, most)
    events = list(_get_execution_history(self).result["events"])
    if self._get_bool_param("reverseOrder", False):
        events.reverse()
    if not self._get_bool_param("includeExecutionData", True):
        events = [_without_data(event) for event in events]
    start = _position(self._get_param("nextToken"))
    end = start + most
    more = {"nextToken": str(end)} if end < len(events) else {}
    return ActionResult({"events": events[start:end], **more})


def _without_data(event: Any) -> Any:
    """Return an event without inputs and outputs, which are members of its details."""
    if not isinstance(event, dict):
        return event
    return {name: _without_data(value) for name, value in event.items() if name not in _DATA}


def _position(token: str | None) -> int:
    if token and not token.isdecimal():
        raise AwsError("InvalidToken", f"Invalid Token: '{token}'")
    return int(token or 0)


def patch() -> None:
    """Replace moto's response."""
    StepFunctionResponse.get_execution_history = _selected
