"""The relay between the nodes' socket and the embedded AWS."""

import errno
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from local_aws.builds import relay
from local_aws.builds.relay import Relay


@pytest.fixture
def endpoint() -> Iterator[str]:
    """A server that answers a request, once it has all of it, with the request twice."""
    server = socket.create_server(("127.0.0.1", 0))

    def answer() -> None:
        while True:
            try:
                peer, _ = server.accept()
            except OSError:
                return
            with peer, peer.makefile("rb") as stream:
                peer.sendall(stream.read() * 2)

    threading.Thread(target=answer, daemon=True).start()
    yield f"http://127.0.0.1:{server.getsockname()[1]}"
    relay.close(server)


def ask(folder: Path, request: bytes) -> bytes:
    with socket.socket(socket.AF_UNIX) as client:
        with relay.socket_path(folder, relay.SOCKET) as path:
            client.connect(path)
        client.sendall(request)
        client.shutdown(socket.SHUT_WR)
        with client.makefile("rb") as stream:
            return stream.read()


def test_large_requests_and_answers_pass_both_ways(tmp_path: Path, endpoint: str) -> None:
    made = Relay(tmp_path, endpoint)
    for request in (b"small", bytes(range(256)) * 4096):
        assert ask(tmp_path, request) == request * 2
    made.close()


def test_a_closed_relay_leaves_no_socket(tmp_path: Path, endpoint: str) -> None:
    Relay(tmp_path, endpoint).close()
    with pytest.raises(FileNotFoundError):
        ask(tmp_path, b"x")
    Relay(tmp_path, endpoint).close()


def test_without_an_endpoint_the_connection_ends(tmp_path: Path) -> None:
    made = Relay(tmp_path, "http://127.0.0.1:1")
    with relay.connect(tmp_path) as client:
        assert client.recv(1) == b""  # sends nothing: the end may come at once
    made.close()


def test_a_lack_of_file_descriptors_does_not_end_the_relay(
    tmp_path: Path, endpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    failures = [OSError(errno.EMFILE, "Too many open files")]
    accept = socket.socket.accept

    def failing(listener: socket.socket) -> object:
        if listener.family == socket.AF_UNIX and failures:
            raise failures.pop()
        return accept(listener)

    monkeypatch.setattr(socket.socket, "accept", failing)
    made = Relay(tmp_path, endpoint)
    assert ask(tmp_path, b"x") == b"xx"
    assert failures == []
    made.close()
