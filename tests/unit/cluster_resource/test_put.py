"""The PUT of a response over real HTTP, on loopback."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from cluster_resource import response


class Recorder(BaseHTTPRequestHandler):
    """Answers PUTs with the status that the path names, and remembers what came."""

    got: list[tuple[str | None, bytes]]

    def do_PUT(self) -> None:
        content = self.rfile.read(int(self.headers["Content-Length"]))
        self.got.append((self.headers["Content-Type"], content))
        self.send_response(int(self.path.strip("/")))
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Stay silent."""


@pytest.fixture
def address() -> Iterator[str]:
    Recorder.got = []
    with HTTPServer(("127.0.0.1", 0), Recorder) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("status", [200, 403, 503])
def test_put_returns_the_status_and_sends_an_empty_content_type(address: str, status: int) -> None:
    assert response.put(f"{address}/{status}", b"{}") == status
    assert Recorder.got == [("", b"{}")]


def test_a_refused_connection_is_an_oserror() -> None:
    with pytest.raises(OSError, match="refused"):
        response.put("http://127.0.0.1:9/", b"{}")
