"""Runs in Lambda. What went wrong with a call, in the kinds that decisions are made by."""

from enum import Enum


class Kind(Enum):
    """How a call failed."""

    ABSENT = "absent"
    IN_USE = "in use"
    BUSY = "busy"
    TRANSIENT = "transient"
    DENIED = "denied"
    ROLE = "role"
    QUOTA = "quota"
    INVALID = "invalid"


class ApiError(Exception):
    """A call that failed: of which kind, and the service's own words."""

    def __init__(self, kind: Kind, operation: str, code: str, text: str) -> None:
        super().__init__(f"{operation}: {code}: {text}")
        self.kind = kind
        self.operation = operation
        self.code = code
        self.text = text


TRANSIENT_CODES = {
    "InternalError",
    "InternalFailure",
    "InternalServerError",
    "InternalServerException",
    "PriorRequestNotComplete",
    "RequestExpired",
    "RequestLimitExceeded",
    "RequestTimeout",
    "RequestTimeoutException",
    "ServiceUnavailable",
    "ServiceUnavailableException",
    "SlowDown",
    "Throttling",
    "ThrottlingException",
    "ThrottledException",
    "TooManyRequestsException",
    "ExpiredToken",
    "ExpiredTokenException",
}
DENIED_CODES = {
    "AccessDenied",
    "AccessDeniedException",
    "UnauthorizedOperation",
    "UnrecognizedClientException",
    "InvalidClientTokenId",
}
KIND_OF_CODE = {
    "ResourceNotFound": Kind.ABSENT,
    "ResourceNotFoundException": Kind.ABSENT,
    "ResourceInUse": Kind.IN_USE,
    "ResourceInUseException": Kind.IN_USE,
    "ConflictException": Kind.BUSY,
    "ResourceLimitExceeded": Kind.QUOTA,
    "ServiceQuotaExceededException": Kind.QUOTA,
}
READS = ("Describe", "List")


def kind_of(operation: str, code: str, status: int, text: str) -> Kind:
    """The kind of an error answer."""
    if code in KIND_OF_CODE:
        return KIND_OF_CODE[code]
    if code in TRANSIENT_CODES or status >= 500 or status == 429:
        return Kind.TRANSIENT
    if code in DENIED_CODES:
        return Kind.DENIED
    return _kind_of_text(operation, text.lower())


def _kind_of_text(operation: str, text: str) -> Kind:
    """The kind of a ValidationException, which says the rest in words."""
    if "assume" in text and "role" in text:
        return Kind.ROLE
    if "health check" in text and operation == "UpdateCluster":
        return Kind.BUSY
    if operation.startswith(READS) and any(words in text for words in ("not found", "could not find", "not exist")):
        return Kind.ABSENT
    return Kind.INVALID
