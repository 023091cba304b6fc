"""The instance metadata service on 169.254.169.254, only version 2 as on HyperPod. It identifies a caller by its address."""

import secrets
import threading
import time
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ADDRESS = "169.254.169.254"
PROXY, PROXY_PORT = "169.254.0.2", 9081  # HyperPod's role proxy, here with all paths of the service
_TOKEN_PATH = "/latest/api/token"  # noqa: S105  the tokens' path, not a token
_TTL_HEADER, _TOKEN_HEADER = "X-aws-ec2-metadata-token-ttl-seconds", "X-aws-ec2-metadata-token"  # header names
_LONGEST_S = 21600


class Metadata:
    """Every node's metadata and its tokens."""

    def __init__(self) -> None:
        self._texts: dict[str, Mapping[str, str]] = {}
        self._tokens: dict[str, dict[str, float]] = {}

    def put(self, address: str, texts: Mapping[str, str]) -> None:
        """Set the metadata of the node at ``address``, by path."""
        self._texts[address] = {path.strip("/"): text for path, text in texts.items()}
        self._tokens.setdefault(address, {})

    def drop(self, address: str) -> None:
        """Delete the metadata of the node at ``address``."""
        self._texts.pop(address, None)
        self._tokens.pop(address, None)

    def token(self, address: str, ttl: str) -> str | None:
        """Return a token for a node; None for an unknown node or a ``ttl`` that is not 1 second to 6 hours."""
        if address not in self._tokens or not ttl.isdecimal() or not 1 <= int(ttl) <= _LONGEST_S:
            return None
        token = secrets.token_urlsafe(40)
        self._tokens[address][token] = time.monotonic() + int(ttl)
        return token

    def is_valid(self, address: str, token: str) -> bool:
        """Return whether the node got ``token`` and it has not expired."""
        return time.monotonic() < self._tokens.get(address, {}).get(token, 0.0)

    def read(self, address: str, path: str) -> str | None:
        """Return the text at a path, or the names below it, one per line, folders with a slash."""
        texts, path = self._texts.get(address, {}), path.strip("/")
        if path in texts:
            return texts[path]
        start = f"{path}/" if path else ""
        below = {name.removeprefix(start) for name in texts if name.startswith(start)}
        names = {first + slash for first, slash, _ in (name.partition("/") for name in below)}
        return "\n".join(sorted(names)) or None


def serve(metadata: Metadata) -> None:
    """Answer from now on, in the background."""
    for place in ((ADDRESS, 80), (PROXY, PROXY_PORT)):
        server = _Server(place, type("Handler", (_Handler,), {"metadata": metadata}))
        threading.Thread(target=server.serve_forever, daemon=True).start()


class _Server(ThreadingHTTPServer):
    request_queue_size = 128  # many nodes connect at once


class _Handler(BaseHTTPRequestHandler):
    metadata: Metadata
    server_version, sys_version = "EC2ws", ""

    def do_PUT(self) -> None:
        if self.headers.get("X-Forwarded-For"):
            return self._answer(403)
        ttl = self.headers.get(_TTL_HEADER, "")
        token = self.metadata.token(self.client_address[0], ttl) if self.path == _TOKEN_PATH else None
        return self._answer(200, token) if token else self._answer(400)

    def do_GET(self) -> None:
        if not self.metadata.is_valid(self.client_address[0], self.headers.get(_TOKEN_HEADER, "")):
            return self._answer(401)
        text = self.metadata.read(self.client_address[0], self.path.partition("?")[0])
        return self._answer(404) if text is None else self._answer(200, text)

    def _answer(self, status: int, text: str = "") -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing."""
