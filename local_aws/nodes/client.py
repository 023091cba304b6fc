"""Asks a hub, from any process of this machine's root."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TextIO

from local_aws.nodes import protocol
from local_aws.nodes.specs import NodesError


def ask(folder: Path, operation: str, *arguments: object, on_line: Callable[[str], None] | None = None) -> object:
    """Ask the hub in ``folder`` for one operation and return its answer; NodesError says what went wrong there."""
    try:
        client = protocol.connect(folder)
    except OSError as error:
        raise NodesError(f"no hub runs in {folder}; its last words are in hub.log there") from error
    ended = f"the hub in {folder} ended before it answered; its last words are in hub.log there"
    with client, client.makefile("rw", encoding="utf-8") as stream:
        try:
            protocol.send(stream, [operation, *arguments])
        except OSError as error:
            raise NodesError(ended) from error
        for line in _lines(stream, ended):
            message = json.loads(line)
            if "error" in message:
                raise NodesError(message["error"])
            if "ok" in message:
                return message["ok"]
            if on_line:
                on_line(message["line"])
    raise NodesError(ended)


def _lines(stream: TextIO, ended: str) -> Iterator[str]:
    """The lines that the hub sends; a connection that breaks off is a hub that ended."""
    try:
        yield from stream
    except OSError as error:
        raise NodesError(ended) from error


def ask_states(folder: Path) -> dict[str, str]:
    """Every node of the hub in ``folder``, and its state."""
    states = ask(folder, "states")
    if not isinstance(states, dict):
        raise NodesError(f"the hub answered {states!r} in place of its nodes")
    return states
