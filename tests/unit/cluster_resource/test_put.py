"""The PUT of a response over real HTTP, on loopback."""

from collections.abc import Iterator

import pytest

from cluster_resource import response
from tests.web_server import Handler, serving


class Recorder(Handler):
    """Answers PUTs with the status that the path names, and remembers what came."""

    got: list[tuple[str | None, bytes]]

    def do_PUT(self) -> None:  # noqa: N802  as http.server names it
        self.got.append((self.headers["Content-Type"], self.body()))
        self.answer(int(self.path.strip("/")))


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    Recorder.got = []
    with serving(Recorder) as url:
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)  # as in functions of the embedded AWS
        yield url


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
