"""Build the response to CloudFormation, cut it to the size limit, and send it."""

import json
import os
import re
import time
import urllib.error
import urllib.request
from bisect import bisect
from collections.abc import Callable

from cluster_resource.decision import CUT
from cluster_resource.event import ROLLOUT, WAIT, Event, Json
from cluster_resource.log import log

MAX_BODY = 4096
"""In bytes. CloudFormation replaces the Reason of a longer response with "Response object is too long"."""

S3 = re.compile(r"https://[a-z0-9-]+\.s3[a-z0-9.-]*\.amazonaws\.com(\.cn)?/")
EMBEDDED = "AWS_ENDPOINT_URL"
"""Set only in functions of the embedded AWS. Who can set it for a function can also change the function's code."""

PAUSES_S = (1, 2, 4)
TIMEOUT_S = 10

Put = Callable[[str, bytes], int]
"""PUT a body and return the HTTP status; raises OSError without one."""

Send = Callable[[Event, Json], None]
"""Send a response."""


class ResponseError(Exception):
    """The response was not delivered. The message never contains the ResponseURL, which is a secret."""


def success(physical_id: str, note: str, data: Json | None) -> Json:
    """Return a SUCCESS response."""
    return {"Status": "SUCCESS", "Reason": note, "PhysicalResourceId": physical_id, "Data": data or {}}


def failure(physical_id: str, reason: str) -> Json:
    """Return a FAILED response."""
    return {"Status": "FAILED", "Reason": reason, "PhysicalResourceId": physical_id, "Data": {}}


def body(event: Event, response: Json) -> bytes:
    """Return the body for CloudFormation, at most 4,096 bytes; the Reason is cut to fit."""
    return _encoded(event, response, fitting(event, response, str(response.get("Reason") or "")))


def fitting(event: Event, response: Json, reason: str, end: str = "") -> str:
    """Return ``reason`` and ``end``; cut the reason, between characters, if both are too long."""
    if fits(event, response, reason + end):
        return reason + end
    kept = bisect(range(1, len(reason) + 1), False, key=lambda length: not fits(event, response, reason[:length] + CUT + end))
    return reason[:kept] + CUT + end


def fits(event: Event, response: Json, reason: str) -> bool:
    """Return whether the response with this Reason is within the size limit."""
    return len(_encoded(event, response, reason)) <= MAX_BODY


def _encoded(event: Event, response: Json, reason: str) -> bytes:
    content = {
        "Status": response["Status"],
        "Reason": reason or "see the function's log",
        "PhysicalResourceId": response["PhysicalResourceId"],
        "StackId": event.stack_id,
        "RequestId": event.request_id,
        "LogicalResourceId": event.logical_id,
        "Data": response.get("Data") or {},
    }
    return json.dumps(content, ensure_ascii=False).encode("utf-8", "replace")


def put(url: str, content: bytes) -> int:
    """PUT over HTTPS to S3; raise a ResponseError for another place. The signature requires an empty content type."""
    embedded = os.environ.get(EMBEDDED)
    if not (S3.match(url) or (embedded and url.startswith(f"{embedded}/"))):
        raise ResponseError("the ResponseURL is not an HTTPS address of S3; nothing was sent")
    request = urllib.request.Request(url, content, {"Content-Type": ""}, method="PUT")  # noqa: S310 (the URL is CloudFormation's)
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as reply:  # noqa: S310 (the same)
            return int(reply.status)
    except urllib.error.HTTPError as error:
        return error.code


def _keeps_cluster(event: Event, response: Json) -> bool:
    """Return whether the cluster still exists after the last request that should delete it."""
    is_failed_delete = event.request_type == "Delete" and response["Status"] == "FAILED"
    is_superseded = str(response.get("Reason")).startswith("superseded")
    return is_failed_delete and event.resource_type not in (WAIT, ROLLOUT) and not is_superseded


def send(event: Event, response: Json, put: Put = put, sleep: Callable[[float], None] = time.sleep) -> None:
    """Send ``response``, with a few retries; raise ResponseError if it was not delivered.

    403 is final: the URL has expired. constructs/hyperpod/cluster/request_alarms.py counts lines with ``alarm``.
    """
    content = body(event, response)
    error = ""
    for pause in (*PAUSES_S, 0):
        try:
            status = put(event.response_url, content)
        except OSError as failed:
            error = type(failed).__name__
        else:
            if 200 <= status < 300:
                # At the end of an update, only this line and its alarm report that the old cluster still exists.
                alarm = {"alarm": "deletion failed"} if _keeps_cluster(event, response) else {}
                log("response sent", status=response["Status"], reason=response.get("Reason"), request=event.request_id, **alarm)
                return
            if status == 403:
                log("response refused", alarm="response refused", status=response["Status"], request=event.request_id)
                return
            error = f"HTTP {status}"
        sleep(pause)
    raise ResponseError(f"the response {response['Status']} to request {event.request_id} was not delivered: {error}")
