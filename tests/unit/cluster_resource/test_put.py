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
def address(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    Recorder.got = []
    with HTTPServer(("127.0.0.1", 0), Recorder) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.server_port}")  # as in functions of the embedded AWS
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("status", [200, 403, 503])
def test_put_returns_the_status_and_sends_an_empty_content_type(address: str, status: int) -> None:
    assert response.put(f"{address}/{status}", b"{}") == status
    assert Recorder.got == [("", b"{}")]


def test_a_refused_connection_is_an_oserror(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    with pytest.raises(OSError, match="refused"):
        response.put("http://127.0.0.1:9/", b"{}")


@pytest.mark.parametrize("embedded", ["", "http://127.0.0.1:4566"])
@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:45661/x",
        "http://bucket.s3.amazonaws.com/x",
        "https://evil.example/x",
        "https://bucket.s3.amazonaws.com.evil.example/x",
        "https://bucket.s3.amazonaws.com@evil.example/x",
        "https://evil.example/bucket.s3.amazonaws.com/x",
        "file:///etc/passwd",
    ],
)
def test_nothing_is_sent_to_another_place_than_s3(url: str, embedded: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", embedded)
    with pytest.raises(response.ResponseError, match="is not an HTTPS address of S3; nothing was sent"):
        response.put(url, b"{}")


@pytest.mark.parametrize(
    "host",
    [
        "cloudformation-custom-resource-response-uswest2.s3-us-west-2.amazonaws.com",
        "cloudformation-custom-resource-response-eusouth2.s3.eu-south-2.amazonaws.com",
        "cloudformation-custom-resource-response-cnnorth1.s3.cn-north-1.amazonaws.com.cn",
        "cloudformation-custom-resource-response-useast1.s3.amazonaws.com",
    ],
)
def test_the_hosts_of_cloudformation_are_s3(host: str) -> None:
    assert response.S3.match(f"https://{host}/arn%3Aaws%3Acloudformation?X-Amz-Signature=x")
