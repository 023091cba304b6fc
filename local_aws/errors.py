"""Errors in the form of AWS's JSON services."""

from moto.core.exceptions import JsonRESTError


class AwsError(JsonRESTError):  # type: ignore[misc]  # moto has no types
    """An error response of a JSON service: ``code`` from the service's model, a message and the HTTP status."""

    def __init__(self, code: str, message: str, status: int = 400) -> None:
        self.code = status
        super().__init__(code, message)
