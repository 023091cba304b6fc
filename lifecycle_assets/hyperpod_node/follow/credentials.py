"""The region and the credentials of the node's role from its metadata service, and requests signed with them (version 4).

https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
"""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from dataclasses import dataclass, field, replace
from functools import cached_property
from urllib.parse import urlsplit

from hyperpod_node.errors import NodeError
from hyperpod_node.follow.http import Request, Send, send_directly

URL = "http://169.254.169.254"
TOKEN_TTL_S = 300  # longer than a run of the agent needs it
_ROLES = "latest/meta-data/iam/security-credentials/"
ALGORITHM = "AWS4-HMAC-SHA256"


@dataclass(frozen=True)
class Credentials:
    """Temporary credentials of a role."""

    access_key: str
    secret_key: str = field(repr=False)
    token: str = field(repr=False)


@dataclass
class InstanceMetadata:
    """The metadata of this node, each value read once."""

    send: Send = send_directly

    @cached_property
    def region(self) -> str:
        """Return the node's region."""
        return self._get("latest/meta-data/placement/region")

    @cached_property
    def credentials(self) -> Credentials:
        """Return the credentials of the node's role."""
        role = self._get(_ROLES).split("\n")[0]
        try:
            found = json.loads(self._get(_ROLES + role))
            return Credentials(found["AccessKeyId"], found["SecretAccessKey"], found["Token"])
        except (ValueError, RecursionError, KeyError, TypeError):
            raise NodeError(f"the metadata service has no credentials of role {role!r}") from None

    @cached_property
    def _token(self) -> str:
        headers = {"X-aws-ec2-metadata-token-ttl-seconds": str(TOKEN_TTL_S)}
        return self.send(Request("PUT", f"{URL}/latest/api/token", headers)).decode()

    def _get(self, path: str) -> str:
        return self.send(Request("GET", f"{URL}/{path}", {"X-aws-ec2-metadata-token": self._token})).decode()


def signed(request: Request, service: str, region: str, credentials: Credentials, time_s: float) -> Request:
    """Return ``request`` with its signature.

    The path and the query of ``request.url`` must be encoded, and the query sorted by name.
    """
    moment = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(time_s))
    payload = hashlib.sha256(request.body).hexdigest()
    own = {"Host": urlsplit(request.url).netloc, "X-Amz-Date": moment, "X-Amz-Security-Token": credentials.token}
    headers = {**request.headers, **own, **({"X-Amz-Content-SHA256": payload} if service == "s3" else {})}
    scope = f"{moment[:8]}/{region}/{service}/aws4_request"
    names, canonical = _canonical(replace(request, headers=headers), payload)
    text = "\n".join((ALGORITHM, moment, scope, hashlib.sha256(canonical.encode()).hexdigest()))
    signature = hmac.new(_key(credentials.secret_key, scope), text.encode(), hashlib.sha256).hexdigest()
    authorization = f"{ALGORITHM} Credential={credentials.access_key}/{scope}, SignedHeaders={names}, Signature={signature}"
    return replace(request, headers={**headers, "Authorization": authorization})


def _canonical(request: Request, payload: str) -> tuple[str, str]:
    """Return the names of the signed headers, and the canonical request."""
    url = urlsplit(request.url)
    headers = sorted((name.lower(), " ".join(value.split())) for name, value in request.headers.items())
    names = ";".join(name for name, _ in headers)
    lines = (f"{name}:{value}" for name, value in headers)
    return names, "\n".join((request.method, url.path or "/", url.query, *lines, "", names, payload))


def _key(secret_key: str, scope: str) -> bytes:
    key = f"AWS4{secret_key}".encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    return key
