"""Custom resources: invoke a function and wait for its response."""

import json
import uuid
from typing import Any

from local_aws.clock import clock
from local_aws.cloudformation import responses
from local_aws.cloudformation.errors import CancelledError, ResourceError
from local_aws.cloudformation.resources.provider import LEAST_PAUSE_S, Context, Provider
from local_aws.cloudformation.template import Json

LONGEST_S = 3600
LONGEST_ID = 1024
INVALID_ID = "Invalid PhysicalResourceId"
NO_ANSWER = (
    "CloudFormation did not receive a response from your Custom Resource. Please check your logs for requestId [{}]. "
    "If you are using the Python cfn-response module, you may need to update your Lambda function code so that "
    "CloudFormation can attach the updated version."
)


def is_custom(resource_type: str) -> bool:
    """Return whether the type is a custom resource's."""
    return resource_type.startswith("Custom::") or resource_type == "AWS::CloudFormation::CustomResource"


def stringify(value: Any) -> Any:
    """Return ``value`` with every scalar as a string, which is how functions receive it."""
    if isinstance(value, dict):
        return {key: stringify(item) for key, item in value.items()}
    if isinstance(value, list):
        return [stringify(item) for item in value]
    return str(value).lower() if isinstance(value, bool) else str(value)


class CustomResource(Provider):
    """Custom::* and AWS::CloudFormation::CustomResource behind a Lambda function; SNS topics are not supported."""

    type = "AWS::CloudFormation::CustomResource"

    def create(self, context: Context, properties: Json) -> str:
        """Request a Create and return the physical id of the response."""
        return self._ask(context, "Create", properties, {})

    def attributes(self, context: Context, physical_id: str, properties: Json) -> Json:
        """Return the Data of the response."""
        return context.data

    def check_update(self, properties: Json, before: Json) -> None:
        """Refuse a different function."""
        if properties["ServiceToken"] != before["ServiceToken"]:
            raise ResourceError("Modifying service token is not allowed.")

    def update(self, context: Context, physical_id: str, properties: Json, before: Json) -> str:
        """Request an Update and return the physical id of the response; a new id means a replacement."""
        return self._ask(
            context, "Update", properties, {"PhysicalResourceId": physical_id, "OldResourceProperties": stringify(before)}
        )

    def delete(self, context: Context, physical_id: str, properties: Json) -> None:
        """Request a Delete, with an invented id if no response ever gave one."""
        invented = f"{context.stack_name}-{context.logical_id}-{uuid.uuid4().hex[:12].upper()}"
        self._ask(context, "Delete", properties, {"PhysicalResourceId": physical_id or invented})

    def _ask(self, context: Context, kind: str, properties: Json, further: Json) -> str:
        limit_s = int(properties.get("ServiceTimeout", LONGEST_S))
        if not 1 <= limit_s <= LONGEST_S:
            raise ResourceError(f"ServiceTimeout must be between 1 and {LONGEST_S}, got {limit_s}")
        pending, request_id = responses.expect(), str(uuid.uuid4())
        event = {
            "RequestType": kind,
            "ServiceToken": properties["ServiceToken"],
            "ResponseURL": pending.url,
            "StackId": context.stack_id,
            "RequestId": request_id,
            "LogicalResourceId": context.logical_id,
            "ResourceType": context.type,
            **further,
            "ResourceProperties": stringify(properties),
        }
        try:
            _invoke(context, event)
            self._wait(context, pending, limit_s, request_id)
            return self._read(context, kind, pending.answer(), event)
        finally:
            responses.discard(pending)

    def _wait(self, context: Context, pending: responses.PendingResponse, limit_s: float, request_id: str) -> None:
        deadline = clock.seconds() + limit_s
        while not pending.came.wait(LEAST_PAUSE_S):
            if context.halt.is_set():
                raise CancelledError
            if clock.seconds() > deadline:
                raise ResourceError(NO_ANSWER.format(request_id))

    def _read(self, context: Context, kind: str, answer: Json, event: Json) -> str:
        physical_id = str(answer.get("PhysicalResourceId") or "")
        if not 0 < len(physical_id.encode()) <= LONGEST_ID:
            raise ResourceError(INVALID_ID)
        if answer["Status"] != "SUCCESS":
            if kind != "Delete":  # the id counts, also of a failed Update: a rollback deletes what it names
                context.identify(physical_id)
            reason = answer.get("Reason") or f"See the details in CloudWatch Log Stream of {event['ServiceToken']}"
            raise ResourceError(
                f"Received response status [FAILED] from custom resource. "
                f"Message returned: {reason} (RequestId: {event['RequestId']})"
            )
        if kind == "Delete" and physical_id != event["PhysicalResourceId"]:
            raise ResourceError(INVALID_ID)
        if not isinstance(answer.get("Data") or {}, dict):
            raise ResourceError("Invalid response object: Value of property Data must be an object")
        context.data = dict(answer.get("Data") or {})
        return physical_id


def _invoke(context: Context, event: Json) -> None:
    if ":lambda:" not in event["ServiceToken"]:
        raise ResourceError(f"not part of the embedded AWS: ServiceToken {event['ServiceToken']}")
    context.client("lambda").invoke(
        FunctionName=event["ServiceToken"], InvocationType="Event", Payload=json.dumps(event).encode()
    )


PROVIDER = CustomResource()
