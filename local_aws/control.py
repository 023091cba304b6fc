"""The embedded AWS's own HTTP paths, below /_local_aws/: a module registers what it answers."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

PREFIX = "/_local_aws/"


@dataclass(frozen=True)
class Request:
    """A request to one of our own paths; ``rest`` is what follows the registered name."""

    method: str
    rest: str
    body: bytes

    def json(self) -> Any:
        """The body, parsed; None when it is empty."""
        return json.loads(self.body) if self.body else None


Handler = Callable[[Request], Any]
_handlers: dict[str, Handler] = {}
_open: set[str] = set()


def route(name: str, handler: Handler, *, needs_token: bool = True) -> None:
    """Answer ``/_local_aws/<name>[/rest]`` with what ``handler`` returns, as JSON; over HTTP to the owner only, if need be."""
    _handlers[name] = handler
    if not needs_token:
        _open.add(name)


def needs_token(path: str) -> bool:
    """Whether ``path`` answers over HTTP to requests with the owner's token only."""
    return path.removeprefix(PREFIX).partition("/")[0] not in _open


def handle(method: str, path: str, body: bytes) -> tuple[int, Any]:
    """Status and JSON answer for a request to ``path``, which starts with ``PREFIX``."""
    name, _, rest = path.removeprefix(PREFIX).partition("/")
    if name not in _handlers:
        return 404, {"message": f"no such path: {path}", "paths": sorted(_handlers)}
    try:
        return 200, _handlers[name](Request(method, rest, body))
    except (ValueError, TypeError, KeyError) as error:
        return 400, {"message": f"{type(error).__name__}: {error}"}
