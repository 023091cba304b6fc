"""Credentials of one embedded AWS: the owner's access key and control token, and the keys of its services.

They are random per process, so that other users of this machine can neither guess nor reuse them.
"""

import secrets
import string
from dataclasses import dataclass, field

CONTROL_HEADER = "X-Local-Aws-Token"
_KEY_CHARACTERS = string.ascii_uppercase + "234567"  # as in AWS's access key ids


@dataclass(frozen=True)
class Owner:
    """The administrator of the account: an access key, and the token for the control paths."""

    access_key: str
    secret_key: str = field(repr=False)
    control_token: str = field(repr=False)

    @property
    def client_keys(self) -> dict[str, str]:
        """Return the arguments of a boto3 client with the owner's keys."""
        return _client_keys(self.access_key, self.secret_key)


def _random_owner() -> Owner:
    key = "AKIA" + "".join(secrets.choice(_KEY_CHARACTERS) for _ in range(16))
    return Owner(key, secrets.token_urlsafe(30), secrets.token_urlsafe(30))


def _client_keys(access_key: str, secret_key: str) -> dict[str, str]:
    return {"aws_access_key_id": access_key, "aws_secret_access_key": secret_key}


OWNER = _random_owner()
# Services that call other services in the same process, under their own names.
_SERVICES = {name: secrets.token_urlsafe(30) for name in ("cloudformation", "events")}


def service_keys(name: str) -> dict[str, str]:
    """Return the arguments of a boto3 client for one of the embedded AWS's own services."""
    return _client_keys(name, _SERVICES[name])


def own_secret(access_key: str) -> str | None:
    """Return the secret key of the owner or a service; None for any other access key."""
    return OWNER.secret_key if access_key == OWNER.access_key else _SERVICES.get(access_key)
