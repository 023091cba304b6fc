"""Runs in Lambda. The answer to CloudFormation: built, cut to what CloudFormation reads, and delivered."""

import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable

from cluster_resource.event import WAIT, Event, Json
from cluster_resource.log import log

MAX_BODY = 4096
"""Bytes; CloudFormation hides the reason of a longer answer behind "Response object is too long"."""


PAUSES_S = (1, 2, 4)
TIMEOUT_S = 10
CUT = "... (cut)"


Put = Callable[[str, bytes], int]

"""PUT a body to an address; gives the HTTP status, raises OSError where there was none."""


Send = Callable[[Event, Json], None]

"""Deliver a response."""


class AnswerError(Exception):
    """The answer did not get through; the text never holds the address, which is a secret."""


def success(physical_id: str, note: str, data: Json | None) -> Json:
    """The verdict SUCCESS."""
    return {"Status": "SUCCESS", "Reason": note, "PhysicalResourceId": physical_id, "Data": data or {}}


def failure(physical_id: str, reason: str) -> Json:
    """The verdict FAILED."""
    return {"Status": "FAILED", "Reason": reason, "PhysicalResourceId": physical_id, "Data": {}}


def body(event: Event, response: Json) -> bytes:
    """The answer as CloudFormation reads it: at most 4,096 bytes, of which the reason gives up what does not fit."""
    return _encoded(event, response, fitting(event, response, str(response.get("Reason") or "")))


def fitting(event: Event, response: Json, reason: str, end: str = "") -> str:
    """``reason`` and ``end``; where both are too long, the reason is cut, on a character border."""
    if fits(event, response, reason + end):
        return reason + end
    low, high = 0, len(reason)
    while low < high:
        middle = (low + high + 1) // 2
        does = fits(event, response, reason[:middle] + CUT + end)
        low, high = (middle, high) if does else (low, middle - 1)
    return reason[:low] + CUT + end


def fits(event: Event, response: Json, reason: str) -> bool:
    """Whether CloudFormation reads the verdict with this reason."""
    return len(_encoded(event, response, reason)) <= MAX_BODY


def _encoded(event: Event, response: Json, reason: str) -> bytes:
    answer = {
        "Status": response["Status"],
        "Reason": reason or "see the function's log",
        "PhysicalResourceId": response["PhysicalResourceId"],
        "StackId": event.stack_id,
        "RequestId": event.request_id,
        "LogicalResourceId": event.logical_id,
        "Data": response.get("Data") or {},
    }
    return json.dumps(answer, ensure_ascii=False).encode("utf-8", "replace")


def put(url: str, content: bytes) -> int:
    """PUT over HTTP. The signature covers an empty content type."""
    request = urllib.request.Request(url, content, {"Content-Type": ""}, method="PUT")  # noqa: S310 (CloudFormation's own address)
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as reply:  # noqa: S310 (the same)
            return int(reply.status)
    except urllib.error.HTTPError as error:
        return error.code


def _is_left(event: Event, response: Json) -> bool:
    """Whether the cluster is still there after the last request that was to delete it."""
    is_failed_delete = event.request_type == "Delete" and response["Status"] == "FAILED" and event.resource_type != WAIT
    return is_failed_delete and not str(response.get("Reason")).startswith("superseded")


def send(event: Event, response: Json, put: Put = put, sleep: Callable[[float], None] = time.sleep) -> None:
    """Deliver ``verdict``, with a few tries; raises AnswerError when it did not get through.

    403 is final: the address has expired, and CloudFormation has given up. It is logged with ``alarm``,
    which constructs/hyperpod/request_alarms.py counts.
    """
    content = body(event, response)
    trouble = ""
    for pause in (*PAUSES_S, 0):
        try:
            status = put(event.response_url, content)
        except OSError as error:
            trouble = type(error).__name__
        else:
            if 200 <= status < 300:
                # At the end of an update, nothing but this line and its alarm tells that the old cluster is still there.
                alarm = {"alarm": "deletion failed"} if _is_left(event, response) else {}
                log("response sent", status=response["Status"], reason=response.get("Reason"), request=event.request_id, **alarm)
                return
            if status == 403:
                log("response refused", alarm="response refused", status=response["Status"], request=event.request_id)
                return
            trouble = f"HTTP {status}"
        sleep(pause)
    raise AnswerError(f"the answer {response['Status']} to request {event.request_id} did not get through: {trouble}")
