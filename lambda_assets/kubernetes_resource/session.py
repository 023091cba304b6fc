"""Share the API server and the pauses between the phases of a step."""

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple
from urllib.parse import quote

from cluster_resource.event import Json
from kubernetes_resource.client import JSON_TYPE, KubernetesClient
from kubernetes_resource.discovery import Discovery
from kubernetes_resource.objects import Target

PAGE = 100
MAX_NAMED = 3


class Session(NamedTuple):
    """One step's access to the API server of the target."""

    target: Target
    client: KubernetesClient
    discovery: Discovery
    sleep: Callable[[float], None]

    def items(self, path: str, accept: str = JSON_TYPE) -> Iterator[Json]:
        """Yield the objects of a collection, page by page; none if it is no longer served."""
        token = ""
        while True:
            page = self.client.get(f"{path}?limit={PAGE}{f'&continue={quote(token)}' if token else ''}", path, accept=accept)
            yield from (page or {}).get("items") or ()
            token = ((page or {}).get("metadata") or {}).get("continue") or ""
            if not token:
                return


def first_of(found: Iterable[str]) -> str:
    """Return the first names as text, or nothing without any; the others are not read."""
    names = list(itertools.islice(found, MAX_NAMED + 1))
    more = " and more" if len(names) > MAX_NAMED else ""
    return f"{', '.join(names[:MAX_NAMED])}{more}"
