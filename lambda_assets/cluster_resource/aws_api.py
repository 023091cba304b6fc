"""Create the boto3 clients, and classify the errors of their calls.

The asset contains a slim SageMaker service model, because that of the Lambda runtime can be too old; a checkout has none.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import Any

import botocore.session
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError, ParamValidationError

from cluster_resource.errors import CallError

MODEL_DIR = Path(__file__).parent / "service_model"
MODEL = "sagemaker/2017-07-24/service-2.json"

OPERATIONS = (
    "AddTags",
    "CreateCluster",
    "DeleteCluster",
    "DeleteTags",
    "DescribeCluster",
    "DescribeClusterEvent",
    "ListClusterEvents",
    "ListClusterNodes",
    "ListClusters",
    "ListTags",
    "UpdateCluster",
)
"""The operations in the service model and in the function's role."""

CONFIG = Config(
    connect_timeout=5,
    read_timeout=15,
    retries={"mode": "standard", "total_max_attempts": 2},
    user_agent_extra="hyperpod-cdk",
)
"""Calls must be short: a step makes few, and the next step follows soon."""


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
    "TooManyUpdates",
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
    "ParameterNotFound": Kind.ABSENT,
    "NotFoundException": Kind.ABSENT,
    "KMSInvalidStateException": Kind.BUSY,
    "ParameterLimitExceeded": Kind.QUOTA,
    "ResourceNotFound": Kind.ABSENT,
    "ResourceNotFoundException": Kind.ABSENT,
    "ResourceInUse": Kind.IN_USE,
    "ResourceInUseException": Kind.IN_USE,
    "ConflictException": Kind.BUSY,
    "ResourceLimitExceeded": Kind.QUOTA,
    "ServiceQuotaExceededException": Kind.QUOTA,
}
READS = ("Describe", "List")


class ApiError(CallError):
    """A failed call: its kind, and the service's error code and message."""

    kind: Kind

    def __init__(self, kind: Kind, operation: str, code: str, text: str) -> None:
        super().__init__(f"{operation}: {code}: {text}")
        self.kind = kind
        self.operation = operation
        self.code = code
        self.text = text


def kind_of(operation: str, code: str, status: int, text: str) -> Kind:
    """Return the kind of an error."""
    if code in KIND_OF_CODE:
        return KIND_OF_CODE[code]
    if code in TRANSIENT_CODES or status >= 500 or status == 429:
        return Kind.TRANSIENT
    if code in DENIED_CODES:
        return Kind.DENIED
    return _kind_of_text(operation, text.lower())


def _kind_of_text(operation: str, text: str) -> Kind:
    """Return the kind of a ValidationException, which only its message shows."""
    if "assume" in text and "role" in text:
        return Kind.ROLE
    if "health check" in text and operation == "UpdateCluster":
        return Kind.BUSY
    if operation.startswith(READS) and any(words in text for words in ("not found", "could not find", "not exist")):
        return Kind.ABSENT
    return Kind.INVALID


@contextmanager
def api_errors(operation: str) -> Iterator[None]:
    """Raise every error of the SDK as ApiError."""
    try:
        yield
    except ClientError as error:
        details = error.response.get("Error", {})
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        code, text = details.get("Code", "Unknown"), details.get("Message", str(error))
        raise ApiError(kind_of(operation, code, status, text), operation, code, text) from error
    except ParamValidationError as error:
        raise ApiError(Kind.INVALID, operation, "ParamValidationError", str(error)) from error
    except NoCredentialsError as error:
        raise ApiError(Kind.DENIED, operation, "NoCredentials", str(error)) from error
    except BotoCoreError as error:
        # A connection error: refused, reset, timed out, not resolved. The next step sees whether the call took effect.
        raise ApiError(Kind.TRANSIENT, operation, type(error).__name__, str(error)) from error


def sagemaker_client(model_dir: Path = MODEL_DIR, operations: Iterable[str] = OPERATIONS) -> Any:
    """Return a SageMaker client with the service model of this release; raise if the model lacks an operation."""
    session = botocore.session.get_session()
    if (model_dir / MODEL).is_file():
        session.get_component("data_loader").search_paths.insert(0, str(model_dir))
    elif "LAMBDA_TASK_ROOT" in os.environ:
        raise RuntimeError(f"the SageMaker service model {model_dir / MODEL} is missing; rebuild the asset from the pinned boto3")
    client = session.create_client("sagemaker", config=CONFIG)
    missing = set(operations) - set(client.meta.service_model.operation_names)
    if missing:
        raise RuntimeError(f"the SageMaker service model lacks {', '.join(sorted(missing))}")
    return client


def logs_client() -> Any:
    """Return a CloudWatch Logs client with short timeouts: a slow log is left out of the Reason."""
    config = CONFIG.merge(Config(connect_timeout=3, read_timeout=5, retries={"mode": "standard", "total_max_attempts": 1}))
    return botocore.session.get_session().create_client("logs", config=config)


def reports_client() -> Any:
    """Return a CloudWatch Logs client for the reports of nodes, on which a rollout depends."""
    config = CONFIG.merge(Config(retries={"mode": "standard", "total_max_attempts": 4}))
    return botocore.session.get_session().create_client("logs", config=config)


def client_of(service: str) -> Any:
    """Return the client of a service that needs no other times and retries."""
    return botocore.session.get_session().create_client(service, config=CONFIG)
