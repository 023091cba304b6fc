"""The parts of Lambda's API that moto lacks: real invocations, LoggingConfig, roles that must be assumable."""

import base64
import json
from typing import Any

from moto.awslambda.exceptions import InvalidParameterValueException, UnknownFunctionException
from moto.awslambda.models import LambdaBackend, LambdaFunction, lambda_backends

from local_aws import iam, limits
from local_aws.errors import AwsError
from local_aws.functions import invocation
from local_aws.functions.asynchronous import AsynchronousInvocations
from local_aws.functions.environment import network_of

_create_function = LambdaBackend.create_function
_delete_function = LambdaBackend.delete_function
_put_event_config = LambdaBackend.put_function_event_invoke_config
_update_code = LambdaFunction.update_function_code
_update_configuration = LambdaFunction.update_configuration
_get_configuration = LambdaFunction.get_configuration

_INTERFACE_ACTIONS = ("CreateNetworkInterface", "DescribeNetworkInterfaces", "DeleteNetworkInterface")
_LOG_TAIL = 4096  # bytes of the log in a synchronous response
_endpoint = ""


def _find(name_or_arn: str) -> Any:
    """Return the function, or None."""
    parts = name_or_arn.split(":")
    try:
        return lambda_backends[parts[4]][parts[3]].get_function(name_or_arn.removesuffix(":$LATEST"))
    except UnknownFunctionException:
        return None


def _run(function: Any, event: Any, request_id: str, attempt: int) -> invocation.Invocation:
    return invocation.run(function, event, _endpoint, request_id=request_id, attempt=attempt)


events = AsynchronousInvocations(_run, _find)


def _invoke(self: Any, body: Any, request_headers: Any, response_headers: dict[str, str]) -> bytes:
    """Run the function, or accept its event. Moto would start a container."""
    kind = request_headers.get("x-amz-invocation-type", "RequestResponse")
    event = json.loads(body) if body else {}
    if kind == "DryRun":
        return b""
    _require_assumable(self.account_id, self.role)
    if kind == "Event":
        limits.require("lambda:InvokeAsync", "payload", len(body or b""), "RequestEntityTooLargeException")
        response_headers["x-amzn-RequestId"] = events.accept(self, event)
        return b""
    if self.reserved_concurrency == 0:  # other reservations have no effect here
        raise AwsError("TooManyRequestsException", "Rate Exceeded.", 429)
    done = invocation.run(self, event, _endpoint)
    response_headers["x-amz-executed-version"] = "$LATEST"
    response_headers["x-amz-log-result"] = base64.b64encode(done.log.encode()[-_LOG_TAIL:]).decode()
    if done.error:
        response_headers["x-amz-function-error"] = done.error
    return json.dumps(done.payload).encode()


def _create(self: Any, spec: dict[str, Any]) -> Any:
    """Create the function and store its log group; Lambda must be able to assume its role."""
    _require_assumable(self.account_id, spec["Role"])
    if not str(spec.get("Runtime")).startswith(("python", "nodejs")):
        raise InvalidParameterValueException(f"runtime {spec.get('Runtime')} is not part of the embedded AWS")
    _require_network(self.account_id, self.region_name, spec["Role"], spec.get("VpcConfig"))
    function = _create_function(self, spec)
    _set_logging(function, spec.get("LoggingConfig"))
    return function


def _require_assumable(account: str, role_arn: str) -> None:
    if not iam.role_trusts(account, role_arn, "lambda.amazonaws.com"):
        raise InvalidParameterValueException("The role defined for the function cannot be assumed by Lambda.")


def _require_network(account: str, region: str, role_arn: str, config: dict[str, Any] | None) -> None:
    """Refuse subnets that do not exist, and a role that may not create network interfaces in them."""
    for place in network_of(account, region, config):
        if place.subnet() is None:
            raise InvalidParameterValueException(f"The subnet ID {place.subnet_id} does not exist")
        for action in _INTERFACE_ACTIONS:
            if not iam.role_allows(account, role_arn, f"ec2:{action}", None):
                message = f"The provided execution role does not have permissions to call {action} on EC2"
                raise InvalidParameterValueException(message)


def _set_logging(function: Any, config: dict[str, Any] | None) -> None:
    """Store the LoggingConfig, which moto drops."""
    if config is not None:
        function.logging_config = config
        function.logs_group_name = config.get("LogGroup") or f"/aws/lambda/{function.function_name}"


def _delete(self: Any, function_name: str, qualifier: str | None = None) -> None:
    """Delete the function and end its processes."""
    arn = self.get_function(function_name).function_arn
    _delete_function(self, function_name, qualifier)
    invocation.pool.changed(arn)


def _change_code(self: Any, spec: dict[str, Any]) -> dict[str, Any]:
    """Change the code and end the processes with the old one."""
    result: dict[str, Any] = _update_code(self, spec)
    invocation.pool.changed(self.function_arn)
    return result


def _change_configuration(self: Any, changes: dict[str, Any]) -> dict[str, Any]:
    """Change the configuration and end the processes with the old one."""
    if changes.get("Role"):
        _require_assumable(self.account_id, changes["Role"])
    _require_network(self.account_id, self.region, changes.get("Role") or self.role, changes.get("VpcConfig"))
    _update_configuration(self, changes)
    _set_logging(self, changes.get("LoggingConfig"))
    invocation.pool.changed(self.function_arn)
    result: dict[str, Any] = self.get_configuration()
    return result


def _configuration(self: Any, on_create: bool = False) -> dict[str, Any]:
    """Return the configuration with its LoggingConfig; the creation's response is older than the function's first state."""
    result: dict[str, Any] = _get_configuration(self, on_create)
    if on_create:
        result |= {"State": "Pending", "StateReason": "The function is being created.", "StateReasonCode": "Creating"}
    kept = {"LogFormat": "Text", **getattr(self, "logging_config", {})}
    return {**result, "LoggingConfig": {**kept, "LogGroup": self.logs_group_name}}


def _put_events(self: Any, function_name: str, config: dict[str, Any]) -> Any:
    """Replace the function's EventInvokeConfig; moto would add a second one and keep using the first."""
    self.get_function(function_name).event_invoke_config.clear()
    return _put_event_config(self, function_name, config)


def install(endpoint: str) -> None:
    """Replace moto's methods."""
    global _endpoint  # noqa: PLW0603  one server per process
    _endpoint = endpoint
    LambdaFunction.invoke = _invoke
    LambdaFunction.update_function_code = _change_code
    LambdaFunction.update_configuration = _change_configuration
    LambdaFunction.get_configuration = _configuration
    LambdaBackend.create_function = _create
    LambdaBackend.delete_function = _delete
    LambdaBackend.put_function_event_invoke_config = _put_events
