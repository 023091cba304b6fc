"""CloudFormation's Query API, which replaces moto's."""

from collections.abc import Callable
from typing import Any

import moto.cloudformation.urls as moto_urls
from moto.core.responses import ActionResult, BaseResponse
from moto.core.utils import camelcase_to_underscores

from local_aws.cloudformation import change_set_requests, drift_requests, read_requests, stack_requests
from local_aws.cloudformation.errors import RequestError, TemplateError
from local_aws.cloudformation.requests import Call, Operation

# For any other action the server returns 400 with a message of its own.
OPERATIONS: dict[str, Operation] = {
    **stack_requests.OPERATIONS,
    **change_set_requests.OPERATIONS,
    **read_requests.OPERATIONS,
    **drift_requests.OPERATIONS,
}


class CloudFormationApi(BaseResponse):  # type: ignore[misc]  # moto has no types
    """Serve CloudFormation's requests; moto parses them and serializes the responses with botocore's model."""

    def __init__(self) -> None:
        super().__init__(service_name="cloudformation")
        self.automated_parameter_parsing = True


def _method(operation: Operation) -> Callable[[Any], Any]:
    def answer(api: Any) -> Any:
        try:
            result = operation(Call(api.current_account, api.region, dict(api.params)))
        except TemplateError as error:
            raise RequestError(str(error)) from error
        return ActionResult(result)

    return answer


def install() -> None:
    """Register this API in the place where moto looks for its own."""
    for name, operation in OPERATIONS.items():
        setattr(CloudFormationApi, camelcase_to_underscores(name), _method(operation))
    moto_urls.url_paths.clear()
    moto_urls.url_paths["{0}/$"] = CloudFormationApi.dispatch
