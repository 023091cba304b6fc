"""Requests to a Kubernetes API server."""

import http.client
import json
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Response:
    """A response: its HTTP status and its content, parsed if it is JSON."""

    status: int
    content: Any


@dataclass(frozen=True)
class Client:
    """A client with a certificate or a token; each request has a connection of its own."""

    endpoint: str
    authority: Path
    certificate: Path | None = None
    key: Path | None = None
    token: str | None = None
    timeout_s: float = 30.0
    user: str = ""  # an administrator can act as another user
    groups: tuple[str, ...] = ()

    def call(self, method: str, path: str, body: object = None, content_type: str = "application/json") -> Response:
        """Send a request and return the response, whatever its status; raise OSError without one.

        ``path`` includes the query; ``body`` becomes JSON, which is also YAML for server-side apply.
        """
        parts = urlsplit(self.endpoint)
        connection = http.client.HTTPSConnection(
            parts.hostname or "", parts.port, timeout=self.timeout_s, context=self._context()
        )
        try:
            connection.putrequest(method, path)
            data = b"" if body is None else json.dumps(body).encode()
            for name, value in (*self._headers(content_type), ("Content-Length", str(len(data)))):
                connection.putheader(name, value)
            connection.endheaders(data)
            response = connection.getresponse()
            return Response(response.status, _parse(response.read()))
        finally:
            connection.close()

    def _headers(self, content_type: str) -> Iterator[tuple[str, str]]:
        yield "Content-Type", content_type
        yield "Accept", "application/json"
        if self.token:
            yield "Authorization", f"Bearer {self.token}"
        if self.user:
            yield "Impersonate-User", self.user
        for group in self.groups:
            yield "Impersonate-Group", group

    def _context(self) -> ssl.SSLContext:
        context = ssl.create_default_context(cafile=self.authority)
        if self.certificate:
            context.load_cert_chain(self.certificate, self.key)
        return context


def _parse(data: bytes) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        return data.decode(errors="replace")
