"""CloudFormation with one stack that has our resource: what it sends, in which order, and how it handles responses."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from cluster_resource.event import CLUSTER, DELETION, WAIT
from tests.soak.files import FILES, minimums, wanted
from tests.soak.timeline import Timeline
from tests.unit.cluster_resource.world import LOGICAL_ID, STACK, as_strings

Json = dict[str, Any]
SERVICE_TIMEOUT_S = 3600
CLEAN_UPS = 3
"""Attempts of a Delete in the clean-up; then CloudFormation gives up."""

WAIT_ID, DELETION_ID = "Wait2", "Deletion"


class Resource(NamedTuple):
    """The resource as CloudFormation knows it: its ID, and the last deployed file."""

    physical_id: str
    file: str


@dataclass
class Request:
    """One request to our functions."""

    raw: Json
    purpose: str
    file: str
    old_file: str
    sent: datetime
    then: str = ""
    answers: list[Json] = field(default_factory=list)
    answered: datetime | None = None
    is_heard: bool = False
    """CloudFormation has handled its response."""
    is_closed: bool = False
    """CloudFormation no longer waits for its response."""
    origin: "Request | None" = None
    """The request for the cluster, if this is one for the wait or the deletion after it."""
    cluster: str = ""
    """The cluster's name, if this is a request for the wait."""
    has_waited: bool = False
    """The wait was called after this request for the cluster, so a rollback calls it again."""

    @property
    def id(self) -> str:
        return str(self.raw["RequestId"])

    @property
    def kind(self) -> str:
        return str(self.raw["RequestType"])

    @property
    def type(self) -> str:
        return str(self.raw["ResourceType"])

    @property
    def physical_id(self) -> str:
        """The cluster's name, also in a request for another resource."""
        return self.cluster or str(self.raw.get("PhysicalResourceId", ""))


class CloudFormation:
    """The stack: the cluster, and with more than one `WaitHours` its wait and its deletion."""

    def __init__(self, timeline: Timeline, deliver: Callable[[Json], None]) -> None:
        self._timeline = timeline
        self._deliver = deliver
        self._numbers = itertools.count(1)
        self.requests: dict[str, Request] = {}
        self.resource: Resource | None = None
        self.current: Request | None = None
        self.phase = "idle"
        self.abandoned: list[str] = []
        self.novelty: Json = {}
        self.rollbacks = 0
        self.has_skipped = False
        self.has_wait = False
        self._invented = ""
        self._clean_ups = 0
        self._undeleted: Request | None = None
        """The request whose deletion resource failed, while the cluster counts as deleted."""
        self._properties: dict[str, Json] = {}

    def describe_stacks(self, StackName: str) -> Json:  # noqa: N803  boto3's name
        """The status of the stack during the newest request for the cluster."""
        newest = [request for request in self.requests.values() if not request.origin][-1]
        status = "UPDATE_ROLLBACK_IN_PROGRESS" if newest.purpose == "rollback" else "UPDATE_IN_PROGRESS"
        return {"Stacks": [{"StackName": StackName, "StackStatus": status}]}

    # What a user does

    def deploy(self, file: str, then: str = "") -> None:
        """Deploy ``file``; with ``then`` "rollback" another resource fails after it."""
        if self.resource is None:
            self._send("Create", "deploy", "", file, "", then=then)
        elif self.resource.file != file:
            self._send("Update", "deploy", self.resource.physical_id, file, self.resource.file, then=then)

    def destroy(self) -> None:
        """Delete the stack."""
        self._give_up_rollback()
        if self._undeleted and self.phase == "DELETE_FAILED":
            self._send_other(DELETION, self._undeleted, "Delete", {"ClusterLogicalId": LOGICAL_ID})
        elif self.resource:
            self._delete(self.resource)

    def cancel(self) -> None:
        """Let another resource fail, or the user cancel, during the request."""
        request = self.current
        if request and request.purpose == "deploy":
            request.is_closed = True
            self._roll_back(request.origin or request, request.cluster or None)

    def go_on(self) -> None:
        """Continue a failed rollback."""
        failed = self.current
        if failed and self.phase == "UPDATE_ROLLBACK_FAILED" and failed.origin:
            self._send_wait(failed.origin, failed.cluster)
        elif failed and self.phase == "UPDATE_ROLLBACK_FAILED":
            self._send("Update", "rollback", failed.physical_id, failed.file, failed.old_file)

    def skip(self) -> None:
        """Continue a failed rollback without our resource, as if it had been rolled back."""
        failed = self.current
        if failed and self.phase == "UPDATE_ROLLBACK_FAILED":
            self._give_up_rollback()
            self.has_skipped = True
            self.resource, self.phase, self.current = Resource(failed.physical_id, failed.file), "idle", None

    def _give_up_rollback(self) -> None:
        """Allow two clusters, of which the stack keeps one."""
        if self.current and self.phase == "UPDATE_ROLLBACK_FAILED" and self.resource:
            self.abandoned += {self.resource.physical_id, self.current.physical_id} - {self.resource.physical_id}

    # What our functions answer

    def answer(self, request_id: str, body: Json) -> None:
        """Accept a response; a second or late one changes nothing."""
        request = self.requests[request_id]
        request.answers.append(body)
        request.answered = request.answered or self._timeline.clock.now
        if not request.is_closed:
            request.is_closed = request.is_heard = True
            self._go_on_after(request, body)

    def _time_out(self, request: Request) -> None:
        if not request.is_closed:
            request.is_closed = True
            self._go_on_after(request, None)

    def _go_on_after(self, request: Request, body: Json | None) -> None:
        is_success = body is not None and body["Status"] == "SUCCESS" and not wrong_id(request, body)
        if request.origin and request.type == WAIT:
            self._waited(request, request.origin, is_success=is_success)
        elif request.kind == "Delete":
            self._deleted(request, is_success=is_success)
        elif not is_success or body is None:
            self._failed(request, body)
        else:
            self._succeeded(request, body["PhysicalResourceId"])

    def _succeeded(self, request: Request, physical_id: str) -> None:
        # A cluster whose clean-up failed is taken again where a later file gives the same name.
        self.abandoned = [name for name in self.abandoned if name != physical_id]
        if self._is_awaited(request):
            self._send_wait(request, physical_id)
        else:
            self._go_on_with(request, physical_id)

    def _is_awaited(self, request: Request) -> bool:
        file = wanted(request.file)
        return file.hours > 1 and file.waits and (request.purpose == "deploy" or request.has_waited)

    def _waited(self, request: Request, origin: Request, *, is_success: bool) -> None:
        if is_success:
            self.has_wait = True
            self._go_on_with(origin, request.cluster)
        elif request.purpose == "rollback":
            self.phase, self.current = "UPDATE_ROLLBACK_FAILED", request
        else:
            self._roll_back(origin, request.cluster)

    def _go_on_with(self, request: Request, physical_id: str) -> None:
        if request.then == "rollback":
            self._roll_back(request, physical_id)
            return
        self.resource, self.phase, self.current = Resource(physical_id, request.file), "idle", None
        if request.kind == "Update" and physical_id != request.physical_id:
            self._clean_ups = 0
            self._clean_up(request.physical_id, request.old_file)

    def _clean_up(self, physical_id: str, file: str) -> None:
        self._clean_ups += 1
        self._send("Delete", "cleanup", physical_id, file, "")

    def _failed(self, request: Request, body: Json | None) -> None:
        if request.purpose == "rollback":
            self.phase, self.current = "UPDATE_ROLLBACK_FAILED", request
            return
        self._roll_back(request, body["PhysicalResourceId"] if body else None)

    def _roll_back(self, request: Request, physical_id: str | None) -> None:
        self.rollbacks += 1
        if request.kind == "Create":
            self._invented = f"reference-Cluster-{LOGICAL_ID}-1K3ZQ7XW9A{next(self._numbers):03}"
            self._delete(Resource(physical_id or self._invented, request.file))
        else:
            self._send("Update", "rollback", physical_id or request.physical_id, request.old_file, request.file)
            if self.current:
                self.current.has_waited = request.has_waited and self.has_wait

    def _delete(self, resource: Resource) -> None:
        self.resource = resource
        self._send("Delete", "destroy", resource.physical_id, resource.file, "")

    def _deleted(self, request: Request, *, is_success: bool) -> None:
        self.current = None
        self.phase = "idle"
        if request.purpose == "cleanup":
            if not is_success and self._clean_ups < CLEAN_UPS:
                self._clean_up(request.physical_id, request.file)
            elif not is_success:
                self.abandoned.append(request.physical_id)
        elif is_success and request.type == CLUSTER and wanted(request.file).hours > 1:
            self._send_other(DELETION, request, "Delete", {"ClusterLogicalId": LOGICAL_ID})
        elif is_success:
            self.resource, self.has_wait, self._undeleted = None, False, None
        else:
            self.phase, self._undeleted = "DELETE_FAILED", request.origin

    def _send_wait(self, origin: Request, cluster: str) -> None:
        """Call the wait after the cluster's request, before CloudFormation goes on."""
        file = FILES[origin.file]
        wanted = {
            "PropertiesVersion": "1",
            "ClusterName": cluster,
            "Hour": 2,
            "Last": True,
            "Trigger": origin.id,
            "Wait": file["Wait"],
            "MinInstanceCounts": minimums(origin.file),
        }
        origin.has_waited = True
        self._send_other(WAIT, origin, "Update" if self.has_wait else "Create", wanted, cluster)

    def _send_other(self, kind: str, origin: Request, request_type: str, wanted: Json, cluster: str = "") -> None:
        logical_id = WAIT_ID if kind == WAIT else DELETION_ID
        own = {"ResourceType": kind, "LogicalResourceId": logical_id, "ResourceProperties": as_strings(wanted)}
        existing = {} if request_type == "Create" else {"PhysicalResourceId": logical_id}
        raw = {**self._event(request_type), **own, **existing}
        self._open(
            Request(
                raw, origin.purpose, origin.file, origin.old_file, self._timeline.clock.now, "", origin=origin, cluster=cluster
            )
        )

    def _send(self, kind: str, purpose: str, physical_id: str, file: str, old_file: str, *, then: str = "") -> None:
        if purpose == "deploy":
            self._properties[file] = as_strings({**FILES[file], **self.novelty})
        raw = {
            **self._event(kind),
            "LogicalResourceId": LOGICAL_ID,
            "ResourceType": CLUSTER,
            "ResourceProperties": self._properties[file],
            **({"PhysicalResourceId": physical_id} if physical_id else {}),
            **({"OldResourceProperties": self._properties[old_file]} if old_file else {}),
        }
        self._open(Request(raw, purpose, file, old_file, self._timeline.clock.now, then))

    def _event(self, kind: str) -> Json:
        number = next(self._numbers)
        date = self._timeline.clock.now.strftime("%Y%m%dT%H%M%SZ")
        return {
            "RequestType": kind,
            "RequestId": f"request-{number}",
            "StackId": STACK,
            "ResponseURL": f"https://bucket/{number}?X-Amz-Date={date}&X-Amz-Signature=secret",
        }

    def _open(self, request: Request) -> None:
        self.requests[request.id] = request
        self.current, self.phase = request, f"{request.kind} {request.purpose}"
        self._timeline.after(SERVICE_TIMEOUT_S, lambda: self._time_out(request))
        self._deliver(request.raw)


def wrong_id(request: Request, body: Json) -> str:
    """Return what CloudFormation finds wrong with an answer's ID: none, or not the one of its Delete."""
    given, answered = request.raw.get("PhysicalResourceId"), str(body["PhysicalResourceId"])
    if not answered:
        return "has no ID"
    return f"has the ID {answered} instead of {given}" if request.kind == "Delete" and answered != given else ""
