"""CloudWatch Logs in memory, with the interface of a boto3 client."""

from typing import Any

import botocore.session
from botocore.exceptions import ClientError, ConnectTimeoutError
from botocore.validate import validate_parameters

Json = dict[str, Any]
SERVICE_MODEL = botocore.session.get_session().get_service_model("logs")


class FakeLogs:
    """Log streams by group and name."""

    def __init__(self) -> None:
        self.streams: dict[str, list[str]] = {}
        self.asked: list[str] = []
        self.error = ""
        self.first_pages_are_empty = False

    def write(self, stream: str, *messages: str) -> None:
        """Append to a stream."""
        self.streams.setdefault(stream, []).extend(messages)

    def get_log_events(self, **request: Any) -> Json:
        validate_parameters(request, SERVICE_MODEL.operation_model("GetLogEvents").input_shape)
        stream = request["logStreamName"]
        self.asked.append(stream)
        if self.error == "ConnectTimeout":
            raise ConnectTimeoutError(endpoint_url="https://logs")
        if self.error or stream not in self.streams:
            code = self.error or "ResourceNotFoundException"
            raise ClientError({"Error": {"Code": code, "Message": "refused by order"}}, "GetLogEvents")
        is_empty = self.first_pages_are_empty and "nextToken" not in request
        messages = [] if is_empty else self.streams[stream][-request["limit"] :]
        return {"events": [{"message": each} for each in messages], "nextBackwardToken": "b", "nextForwardToken": "f"}
