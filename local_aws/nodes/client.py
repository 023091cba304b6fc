"""Requests to a hub, from any process of this machine's root."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TextIO

from local_aws.builds.errors import HostError
from local_aws.nodes import protocol


def ask(folder: Path, operation: str, *arguments: object, on_line: Callable[[str], None] | None = None) -> object:
    """Send a request to the hub in ``folder`` and return its response; raise HostError with the hub's error."""
    try:
        client = protocol.connect(folder)
    except OSError as error:
        raise HostError(f"no hub runs in {folder}; see its hub.log") from error
    ended = f"the hub in {folder} ended before it responded; see its hub.log"
    with client, client.makefile("rw", encoding="utf-8") as stream:
        try:
            protocol.send(stream, [operation, *arguments])
        except OSError as error:
            raise HostError(ended) from error
        for line in _lines(stream, ended):
            message = json.loads(line)
            if "error" in message:
                raise HostError(message["error"])
            if "ok" in message:
                return message["ok"]
            if on_line:
                on_line(message["line"])
    raise HostError(ended)


def _lines(stream: TextIO, ended: str) -> Iterator[str]:
    """Yield the lines that the hub sends; a broken connection means that the hub has ended."""
    try:
        yield from stream
    except OSError as error:
        raise HostError(ended) from error


def ask_states(folder: Path) -> dict[str, str]:
    """Return the state of every node of the hub in ``folder``."""
    states = ask(folder, "states")
    if not isinstance(states, dict):
        raise HostError(f"the hub responded {states!r} instead of its nodes")
    return states
