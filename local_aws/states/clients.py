"""The clients that state machines use to call services, with the machine's role."""

import threading
from typing import Any

import boto3
from botocore.config import Config
from moto.stepfunctions.parser.models import stepfunctions_parser_backends

from local_aws import iam
from local_aws.states.machines import assuming

_CONFIG = Config(
    parameter_validation=False,
    retries={"max_attempts": 0, "total_max_attempts": 1},  # the state machine retries
    read_timeout=1000,  # longer than the longest function; the interpreter's own time-outs end it
)
_lock = threading.Lock()
_clients: dict[tuple[str, str, str], Any] = {}
_endpoint = ""


def use(endpoint: str) -> None:
    """Call services at ``endpoint``."""
    global _endpoint  # noqa: PLW0603  one server per process
    _endpoint = endpoint


def client_for(region: str, service: str, state_credentials: Any = None) -> Any:
    """Return a cached client with the credentials of the role in ``state_credentials``; creating one is slow."""
    role_arn = state_credentials.role_arn
    key = (region, service, role_arn)
    with _lock:
        if key not in _clients:
            account = role_arn.split(":")[4]
            session = iam.assume(account, role_arn, "states.amazonaws.com", "state-machine", _sent_for(account, region, role_arn))
            _clients[key] = boto3.client(
                service,
                region_name=region,
                endpoint_url=_endpoint,
                config=_CONFIG,
                **session.client_keys,
            )
        return _clients[key]


def _sent_for(account: str, region: str, role_arn: str) -> dict[str, str]:
    """Return the condition keys of the role's session: the account, and the machine with this role."""
    machines = stepfunctions_parser_backends[account][region].state_machines
    return next((assuming(machine.arn) for machine in machines if machine.roleArn == role_arn), {"aws:SourceAccount": account})


def reset() -> None:
    """Delete the clients; their sessions are gone."""
    with _lock:
        _clients.clear()
