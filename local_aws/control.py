"""The embedded AWS's own HTTP paths below /_local_aws/; modules register handlers for them."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

PREFIX = "/_local_aws/"


@dataclass(frozen=True)
class Request:
    """A request to a control path; ``rest`` follows the registered name."""

    method: str
    rest: str
    body: bytes

    def json(self) -> Any:
        """Return the parsed body; None if it is empty."""
        return json.loads(self.body) if self.body else None


Handler = Callable[[Request], Any]
_handlers: dict[str, Handler] = {}
_open: set[str] = set()


def route(name: str, handler: Handler, *, needs_token: bool = True) -> None:
    """Serve ``/_local_aws/<name>[/rest]`` with the JSON result of ``handler``; by default only to the owner's token."""
    _handlers[name] = handler
    if not needs_token:
        _open.add(name)


def needs_token(path: str) -> bool:
    """Return whether ``path`` requires the owner's token over HTTP."""
    return path.removeprefix(PREFIX).partition("/")[0] not in _open


def handle(method: str, path: str, body: bytes) -> tuple[int, Any]:
    """Return the status and JSON response for a request to ``path``, which starts with ``PREFIX``."""
    name, _, rest = path.removeprefix(PREFIX).partition("/")
    if name not in _handlers:
        return 404, {"message": f"unknown path: {path}", "paths": sorted(_handlers)}
    try:
        return 200, _handlers[name](Request(method, rest, body))
    except (ValueError, TypeError, KeyError) as error:
        return 400, {"message": f"{type(error).__name__}: {error}"}
