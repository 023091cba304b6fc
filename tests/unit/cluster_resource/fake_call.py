"""One operation of a boto3 client, which refuses the requests that a client refuses."""

from collections.abc import Callable
from typing import Any

import botocore.session
from botocore.validate import validate_parameters


def fake_call(service: str, operation: str, answer: Callable[[], Any]) -> Callable[..., Any]:
    """Return an operation that checks its request and returns what ``answer`` does."""
    shape = botocore.session.get_session().get_service_model(service).operation_model(operation).input_shape

    def call(**request: Any) -> Any:
        validate_parameters(request, shape)
        return answer()

    return call
