"""Requests to a Kubernetes API server."""

import http.client
import json
import ssl
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

    def call(self, method: str, path: str, body: object = None, content_type: str = "application/json") -> Response:
        """Send a request and return the response, whatever its status; raise OSError without one.

        ``path`` includes the query; ``body`` becomes JSON, which is also YAML for server-side apply.
        """
        parts = urlsplit(self.endpoint)
        connection = http.client.HTTPSConnection(
            parts.hostname or "", parts.port, timeout=self.timeout_s, context=self._context()
        )
        headers = {"Content-Type": content_type, "Accept": "application/json"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        try:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            response = connection.getresponse()
            return Response(response.status, _parse(response.read()))
        finally:
            connection.close()

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
