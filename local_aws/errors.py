"""Errors in the form in which AWS's JSON services answer."""

from moto.core.exceptions import JsonRESTError


class AwsError(JsonRESTError):  # type: ignore[misc]  # moto has no types
    """An error answer of a JSON service: ``code`` as in the service's model, a message, and the HTTP status."""

    def __init__(self, code: str, message: str, status: int = 400) -> None:
        self.code = status
        super().__init__(code, message)
