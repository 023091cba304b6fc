"""Clients that CloudFormation uses to call the other services of the embedded AWS."""

import threading
from typing import Any

import boto3
from botocore.config import Config

from local_aws.credentials import service_keys

_lock = threading.Lock()
_clients: dict[tuple[str, str], Any] = {}
_endpoint = ""
# One attempt: a refusal is the reason in the event, and an injected fault is used up by one call.
_CONFIG = Config(retries={"total_max_attempts": 1}, read_timeout=1000, max_pool_connections=16, s3={"addressing_style": "path"})


def configure(endpoint: str) -> None:
    """Point all clients at ``endpoint``."""
    global _endpoint  # noqa: PLW0603  one server per process, like moto's own state
    with _lock:
        _endpoint = endpoint
        _clients.clear()


def endpoint() -> str:
    """Return the endpoint of the embedded AWS."""
    return _endpoint


def client(service: str, region: str) -> Any:
    """Return a cached client of ``service`` that signs as CloudFormation; creating one is slow."""
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
