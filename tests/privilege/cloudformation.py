"""Fake CloudFormation for custom resources: send events to the entry function and wait for responses."""

import json
import uuid
from copy import deepcopy
from typing import Any

from local_aws.cloudformation import responses
from local_aws.testing import Client, ask

Json = dict[str, Any]


class Request:
    """A request and its response."""

    def __init__(self, client: Client, event: Json) -> None:
        self._awaited = responses.expect()
        self.event = {**event, "ResponseURL": self._awaited.url, "RequestId": str(uuid.uuid4())}
        client("lambda").invoke(
            FunctionName=event["ServiceToken"], InvocationType="Event", Payload=json.dumps(self.event).encode()
        )

    @property
    def is_answered(self) -> bool:
        """Return whether the response has arrived."""
        return self._awaited.came.is_set()

    def answer(self, within_s: float) -> Json:
        """Return the response, or the timeout error of CloudFormation."""
        if not self._awaited.came.wait(within_s):
            return {"Status": "FAILED", "Reason": "no answer came within the hour"}
        return self._awaited.answer()


class CustomResource:
    """A custom resource of a deployed stack."""

    def __init__(self, client: Client, resource_type: str) -> None:
        self._client = client
        [self._created] = [
            event
            for event in (run["event"] for run in ask("invocations"))
            if isinstance(event, dict) and (event.get("ResourceType"), event.get("RequestType")) == (resource_type, "Create")
        ]
        self.properties: Json = self._created["ResourceProperties"]

    def create(self, properties: Json | None = None) -> Request:
        """Send a Create."""
        return self._request("Create", properties or self.properties)

    def update(self, name: str, properties: Json, old: Json) -> Request:
        """Send an Update."""
        return self._request("Update", properties, PhysicalResourceId=name, OldResourceProperties=old)

    def delete(self, name: str, properties: Json | None = None) -> Request:
        """Send a Delete."""
        return self._request("Delete", properties or self.properties, PhysicalResourceId=name)

    def _request(self, kind: str, properties: Json, **more: object) -> Request:
        event = {**deepcopy(self._created), "RequestType": kind, "ResourceProperties": properties, **more}
        return Request(self._client, event)
