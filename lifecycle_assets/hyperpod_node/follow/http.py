"""Send HTTP requests."""

from __future__ import annotations

import http.client
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from hyperpod_node.errors import NodeError

TIMEOUT_S = 10.0
_SHOWN = 300  # characters of a response in an error


@dataclass(frozen=True)
class Request:
    """An HTTP request; ``url`` is encoded already."""

    method: str
    url: str
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""


class HttpError(NodeError):
    """The server responded with an error."""

    def __init__(self, status: int, content: bytes) -> None:
        super().__init__(f"HTTP status {status}: {content[:_SHOWN].decode(errors='replace') or 'no content'}")
        self.status, self.content = status, content


class UnavailableError(NodeError):
    """The server cannot respond now; a later attempt may succeed."""


class UnreachableError(UnavailableError):
    """The server did not respond."""


Send = Callable[[Request], bytes]


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Refuses redirects: a signature is valid for one host only."""

    def redirect_request(self, *_: object) -> None:
        return None


def _send(opener: urllib.request.OpenerDirector, request: Request) -> bytes:
    """Return the content of the response."""
    body = request.body or None
    # S310: the URLs are those of AWS, of the metadata service, or of the environment.
    sent = urllib.request.Request(request.url, data=body, headers=request.headers, method=request.method)  # noqa: S310
    try:
        with opener.open(sent, timeout=TIMEOUT_S) as response:
            content: bytes = response.read()
            return content
    except urllib.error.HTTPError as error:
        raise HttpError(error.code, _content(error)) from None
    except (OSError, ValueError, http.client.HTTPException) as error:  # URLError is an OSError; the others: a malformed response
        raise UnreachableError(f"{request.url.partition('?')[0]}: {getattr(error, 'reason', error)}") from None


# Uses the proxy of the environment, as the SDKs do.
send: Send = partial(_send, urllib.request.build_opener(_NoRedirects))
# Uses none: for the metadata service, which is on the node's own link.
send_directly: Send = partial(_send, urllib.request.build_opener(_NoRedirects, urllib.request.ProxyHandler({})))


def _content(error: urllib.error.HTTPError) -> bytes:
    try:
        return error.read()
    except (OSError, http.client.HTTPException):  # the connection broke: the status is known
        return b""
