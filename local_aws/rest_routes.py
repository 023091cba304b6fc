"""Operations of services that name them by method and path, found with the service model."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import unquote


@dataclass(frozen=True)
class Route:
    """The route of an operation; ``query`` holds the items that its URL always has."""

    operation: str
    method: str
    pattern: re.Pattern[str]
    query: frozenset[str]


def find(service: str, environ: Mapping[str, Any]) -> tuple[str, dict[str, str]] | None:
    """Return the operation of a request and the values in its path; of several, the one with the most specific query."""
    path, _, query_text = str(environ["RAW_URI"]).partition("?")
    query = set(query_text.split("&"))
    keys = {item.partition("=")[0] for item in query}
    for route in _routes(service):
        found = route.pattern.fullmatch(path) if route.method == environ["REQUEST_METHOD"] else None
        if found and route.query <= query | keys:
            return route.operation, {name: unquote(value) for name, value in found.groupdict().items()}
    return None


@cache
def model(service: str) -> Any:
    """Return botocore's model of a service."""
    from botocore.session import get_session  # noqa: PLC0415  not needed at start

    return get_session().get_service_model(service)


@cache
def _routes(service: str) -> list[Route]:
    described = model(service)
    routes = []
    for name in described.operation_names:
        http = described.operation_model(name).http
        path, _, query = http["requestUri"].partition("?")
        greedy = re.sub(r"\\{(\w+)\\\+\\}", r"(?P<\1>.+)", re.escape(path))
        pattern = re.compile(re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^/]+)", greedy) + "/?")
        routes.append(Route(name, http["method"], pattern, frozenset(filter(None, query.split("&")))))
    # Of two with the same route (S3's PutObject and CopyObject), the plain one represents both.
    plain = {"PutObject": 0, "GetObject": 0, "ListObjects": 0}
    return sorted(routes, key=lambda route: (-len(route.query), plain.get(route.operation, 1)))
