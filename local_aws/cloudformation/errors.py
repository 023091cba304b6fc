"""What can go wrong: in a template, with one resource, or with a request."""

from botocore.exceptions import ClientError
from moto.core.exceptions import ServiceException


class TemplateError(Exception):
    """The template, or a value that it asks for, is wrong."""


class ResourceError(Exception):
    """A resource could not be made, changed or removed; the text is the reason that its event shows."""


class CancelledError(ResourceError):
    """The operation was called off while this resource was being worked on."""


class RequestError(ServiceException):  # type: ignore[misc]  # moto has no types
    """A refusal of the request: ValidationError unless another code is given."""

    def __init__(self, message: str, code: str = "ValidationError") -> None:
        self.code = code
        super().__init__(message)


def service_reason(error: ClientError, resource_type: str) -> str:
    """What an event says when a service refused a call."""
    answer = error.response
    status = answer["ResponseMetadata"]["HTTPStatusCode"]
    service = resource_type.split("::")[1]
    return f"{answer['Error']['Message']} (Service: {service}, Status Code: {status}, Error Code: {answer['Error']['Code']})"
