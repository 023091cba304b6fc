"""Complete lists: AWS answers many operations in pages."""

from collections.abc import Callable, Iterator
from typing import Any

from botocore.exceptions import OperationNotPageableError


def listed(client: Any, operation: str, items: str, **arguments: Any) -> Iterator[Any]:
    """Yield the ``items`` that the operation lists, from every page."""
    try:
        pages = client.get_paginator(operation).paginate(**arguments)
    except OperationNotPageableError:  # botocore has no paginator for some of the operations that give a NextToken
        pages = _followed(getattr(client, operation), arguments)
    for page in pages:
        yield from page.get(items) or []


def _followed(call: Callable[..., dict[str, Any]], arguments: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the pages of an operation, following NextToken."""
    page = call(**arguments)
    yield page
    while page.get("NextToken"):
        page = call(**arguments, NextToken=page["NextToken"])
        yield page
