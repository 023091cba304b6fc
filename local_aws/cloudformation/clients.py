"""Clients with which CloudFormation acts on the other services of the embedded AWS."""

import threading
from typing import Any

import boto3
from botocore.config import Config

from local_aws.credentials import service_keys

_lock = threading.Lock()
_clients: dict[tuple[str, str], Any] = {}
_endpoint = ""
# One attempt: a refusal is the event's reason, and an order for a fault is used up by one call.
_CONFIG = Config(retries={"total_max_attempts": 1}, read_timeout=1000, max_pool_connections=16, s3={"addressing_style": "path"})


def configure(endpoint: str) -> None:
    """Let all clients speak to ``endpoint``."""
    global _endpoint  # noqa: PLW0603  one server per process, as moto's own state
    with _lock:
        _endpoint = endpoint
        _clients.clear()


def endpoint() -> str:
    """Where the embedded AWS listens."""
    return _endpoint


def client(service: str, region: str) -> Any:
    """A client of ``service`` that signs as CloudFormation; made once, since making one takes long."""
    with _lock:
        if (service, region) not in _clients:
            _clients[service, region] = boto3.client(
                service,
                region_name=region,
                endpoint_url=_endpoint,
                config=_CONFIG,
                **service_keys("cloudformation"),
            )
        return _clients[service, region]
