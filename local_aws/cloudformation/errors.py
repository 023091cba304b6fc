"""Errors of a template, a resource or a request."""

from botocore.exceptions import ClientError
from moto.core.exceptions import ServiceException


class TemplateError(Exception):
    """The template, or a value that it refers to, is wrong."""


class ResourceError(Exception):
    """A resource could not be created, changed or deleted; the text is the reason in its event."""


class CancelledError(ResourceError):
    """The operation was cancelled during work on this resource."""


class RequestError(ServiceException):  # type: ignore[misc]  # moto has no types
    """The request is refused, with ValidationError unless another code is given."""

    def __init__(self, message: str, code: str = "ValidationError") -> None:
        self.code = code
        super().__init__(message)


def service_reason(error: ClientError, resource_type: str) -> str:
    """Return the reason for an event after a service refused a call."""
    answer = error.response
    status = answer["ResponseMetadata"]["HTTPStatusCode"]
    service = resource_type.split("::")[1]
    return f"{answer['Error']['Message']} (Service: {service}, Status Code: {status}, Error Code: {answer['Error']['Code']})"
