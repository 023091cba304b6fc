"""Call the Kubernetes API over HTTPS with a bearer token. Every failure is a KubernetesError."""

import http.client
import json
import math
import ssl
from collections.abc import Callable, Mapping
from typing import Any, Protocol
from urllib.parse import urlsplit

from cluster_resource.errors import PendingError
from cluster_resource.event import Json
from kubernetes_resource.errors import Kind, KubernetesError, error_of

FIELD_MANAGER = "hyperpod-cdk"
TIMEOUT_S = 10
RESERVE_S = TIMEOUT_S + 5
"""A call begins only if the function has this long left, so that it does not time out in it."""
JSON_TYPE = "application/json"
METADATA_TYPE = f"{JSON_TYPE};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,{JSON_TYPE}"
"""Without specs and data: 100 objects have up to 150 MB of them. Aggregated APIs that cannot do it send the objects."""
MAX_REPLY = 16 * 1024 * 1024
"""The function has 256 MB, and a parsed reply takes several times its size."""
NOT_SERVED = b"404 page not found"
"""The reply for an API group that is not served."""
APPLY_TYPE = "application/apply-patch+yaml"


class Transport(Protocol):
    """A connection to the API server."""

    def __call__(self, method: str, path: str, headers: Mapping[str, str], body: bytes | None, /) -> tuple[int, bytes]:
        """Send a request and return status and body; raise OSError or HTTPException without a reply."""

    def close(self) -> None:
        """Close the connection."""


class HttpsTransport:
    """One connection to an API server. An error ends the step, and so the connection."""

    def __init__(self, endpoint: str, certificate_authority: str) -> None:
        place = urlsplit(endpoint)
        self._connection = http.client.HTTPSConnection(
            place.hostname or "", place.port or 443, timeout=TIMEOUT_S, context=_trust(certificate_authority)
        )

    def __call__(self, method: str, path: str, headers: Mapping[str, str], body: bytes | None) -> tuple[int, bytes]:
        """Send a request."""
        self._connection.request(method, path, body, dict(headers))
        reply = self._connection.getresponse()
        return reply.status, reply.read(MAX_REPLY + 1)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def _trust(certificate_authority: str) -> ssl.SSLContext:
    """Return a context that trusts only the cluster's authority.

    EKS creates authorities without a key identifier, which Python 3.13 refuses by default:
    https://github.com/kubernetes-client/python/issues/2394. Chain, dates and host name are still checked.
    """
    context = ssl.create_default_context(cadata=certificate_authority)
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return context


class KubernetesClient:
    """The verbs of the API that the applier uses; raises PendingError if no time is left for another call.

    ``subject`` is the object that an error names.
    """

    def __init__(self, transport: Transport, token: str, seconds_left: Callable[[], float] = lambda: math.inf) -> None:
        self._transport = transport
        self._token = token
        self._seconds_left = seconds_left

    @property
    def has_time(self) -> bool:
        """Return whether there is time for another call."""
        return self._seconds_left() >= RESERVE_S

    def close(self) -> None:
        """Close the connection."""
        self._transport.close()

    def get(self, path: str, subject: str, *, accept: str = JSON_TYPE) -> Json | None:
        """Return an object or a list, or nothing if it does not exist."""
        try:
            return self._call("GET", path, subject, accept=accept)
        except KubernetesError as error:
            if error.kind is Kind.ABSENT:
                return None
            raise

    def apply(self, path: str, desired: Json, subject: str) -> Json:
        """Apply an object on the server; unknown fields, and those of other managers, are errors."""
        query = f"?fieldManager={FIELD_MANAGER}&fieldValidation=Strict&force=false"
        return self._call("PATCH", path + query, subject, desired, APPLY_TYPE)

    def create(self, path: str, desired: Json, subject: str) -> Json:
        """Create an object in a collection."""
        return self._call("POST", f"{path}?fieldManager={FIELD_MANAGER}", subject, desired)

    def replace(self, path: str, desired: Json, subject: str) -> Json:
        """Replace an object; the resource version in it must be the current one."""
        return self._call("PUT", f"{path}?fieldManager={FIELD_MANAGER}", subject, desired)

    def delete(self, path: str, live: Json, subject: str) -> None:
        """Delete an object unless it changed since it was read; succeed if it is absent."""
        known = {name: live["metadata"][name] for name in ("uid", "resourceVersion")}
        options = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Foreground", "preconditions": known}
        try:
            self._call("DELETE", path, subject, options)
        except KubernetesError as error:
            if error.kind is not Kind.ABSENT:
                raise

    def _call(
        self,
        method: str,
        path: str,
        subject: str,
        body: Json | None = None,
        content_type: str = JSON_TYPE,
        *,
        accept: str = JSON_TYPE,
    ) -> Json:
        headers = {"Accept": accept, "Authorization": f"Bearer {self._token}", "User-Agent": FIELD_MANAGER}
        if body is not None:
            headers["Content-Type"] = content_type
        status, content = self._sent(method, path, headers, body, subject)
        reply = _parsed(content, status, subject)
        if 200 <= status < 300:
            return reply
        raise error_of(status, reply, subject)

    def _sent(self, method: str, path: str, headers: Mapping[str, str], body: Json | None, subject: str) -> tuple[int, bytes]:
        if not self.has_time:
            raise PendingError(f"{subject}: the next step continues")
        content = None if body is None else json.dumps(body).encode()
        try:
            return self._transport(method, path, headers, content)
        except ssl.SSLCertVerificationError as error:
            text = f"the API server's certificate is not from the EKS cluster's authority ({error.verify_message})"
            raise KubernetesError(Kind.UNTRUSTED, subject, text) from error
        except (OSError, http.client.HTTPException) as error:
            # The call may have taken effect: the next step sees that.
            text = f"the API server does not answer ({type(error).__name__}: {error})"
            raise KubernetesError(Kind.UNAVAILABLE, subject, text) from error


def _parsed(content: bytes, status: int, subject: str) -> Json:
    """Return a reply. Another server could answer 404 too, so only the API server's own text counts as absent."""
    if len(content) > MAX_REPLY:
        text = f"the API server's reply is larger than {MAX_REPLY // 1024**2} MiB"
        raise KubernetesError(Kind.TOO_LARGE, subject, text)
    try:
        reply: Any = json.loads(content)
    except ValueError:
        reply = None
    if isinstance(reply, dict):
        return reply
    if status == 404 and content.startswith(NOT_SERVED):
        return {}
    error = KubernetesError(Kind.UNAVAILABLE, subject, f"HTTP {status} without a JSON object")
    error.status = status
    raise error
