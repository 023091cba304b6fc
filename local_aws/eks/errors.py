"""EKS's errors."""

from local_aws.errors import AwsError


def invalid(message: str) -> AwsError:
    """Return the error of an invalid parameter."""
    return AwsError("InvalidParameterException", message)


def refused(message: str) -> AwsError:
    """Return the error of a request that the resource's state or the embedded AWS does not allow."""
    return AwsError("InvalidRequestException", message)


def unsupported(what: str) -> AwsError:
    """Return the error of a part of EKS that is not emulated."""
    return refused(f"not part of the embedded AWS: {what}")


def in_use(message: str) -> AwsError:
    """Return the error of a resource that exists or is in use."""
    return AwsError("ResourceInUseException", message, 409)


def not_found(message: str) -> AwsError:
    """Return the error of a missing resource."""
    return AwsError("ResourceNotFoundException", message, 404)
