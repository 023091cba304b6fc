"""The agent's AWS calls: endpoints, retries, errors."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from hyperpod_node.errors import NodeError
from hyperpod_node.follow.aws import ATTEMPTS, AwsError
from hyperpod_node.follow.credentials import InstanceMetadata
from hyperpod_node.follow.http import HttpError, Request, UnavailableError, UnreachableError, send
from tests.unit.hyperpod_node.follow.fake_aws import FakeAws, error


@pytest.mark.parametrize(
    ("region", "variables", "urls"),
    [
        ("us-west-2", {}, ["https://ssm.us-west-2.amazonaws.com/", "https://s3.us-west-2.amazonaws.com/b/k%20y"]),
        ("cn-north-1", {}, ["https://ssm.cn-north-1.amazonaws.com.cn/", "https://s3.cn-north-1.amazonaws.com.cn/b/k%20y"]),
        ("us-west-2", {"AWS_ENDPOINT_URL": "http://x:1/"}, ["http://x:1/", "http://x:1/b/k%20y"]),
        (
            "us-west-2",
            {"AWS_ENDPOINT_URL": "http://x:1", "AWS_ENDPOINT_URL_S3": "http://y:2"},
            ["http://x:1/", "http://y:2/b/k%20y"],
        ),
    ],
)
def test_calls_go_to_the_endpoints_that_the_sdks_use(region: str, variables: dict[str, str], urls: list[str]) -> None:
    fake = FakeAws("value", {"k y": b"content"}, region=region, variables=variables)
    assert fake.aws.parameter("/p").value == "value"
    assert fake.aws.object("b", "k y") == b"content"
    assert [request.url for request in fake.asked] == urls


def test_the_logs_endpoint_has_the_sdks_variable() -> None:
    fake = FakeAws(variables={"AWS_ENDPOINT_URL_CLOUDWATCH_LOGS": "http://logs:1"})
    fake.aws.put_log_events("group", "stream", ["line"])
    assert {request.url for request in fake.asked} == {"http://logs:1/"}


@pytest.mark.parametrize(
    "failure",
    [error(400, "ThrottlingException"), error(429, ""), error(500, "InternalFailure"), UnreachableError("no route")],
)
def test_a_call_is_repeated_after_throttling_and_failures(failure: Exception) -> None:
    fake = FakeAws("value", failures=[failure] * (ATTEMPTS - 1))
    assert fake.aws.parameter("/p").value == "value"
    assert len(fake.asked) == ATTEMPTS
    assert fake.time.pauses == [1, 2, 4]


def test_the_last_failure_is_reported() -> None:
    with pytest.raises(UnavailableError, match=r"^ssm:GetParameter: no route$"):
        FakeAws("value", failures=[UnreachableError("no route")] * ATTEMPTS).aws.parameter("/p")
    slow = HttpError(503, b"<Error><Code>SlowDown</Code><Message>later</Message></Error>")
    with pytest.raises(UnavailableError, match=r"^s3:GetObject b/k: SlowDown: later$"):
        FakeAws(failures=[slow] * ATTEMPTS).aws.object("b", "k")


def test_a_refusal_is_not_repeated() -> None:
    fake = FakeAws("value", failures=[error(400, "AccessDeniedException")])
    with pytest.raises(AwsError, match="AccessDeniedException: it is AccessDeniedException"):
        fake.aws.parameter("/p")
    assert len(fake.asked) == 1


def test_all_pages_are_listed() -> None:
    keys = [f"lifecycle/1/{number}" for number in range(5)]
    assert FakeAws(objects=dict.fromkeys([*keys, "other/1"], b"")).aws.keys("b", "lifecycle/1/") == keys


def test_a_log_stream_is_created_once() -> None:
    fake = FakeAws()
    fake.aws.put_log_events("group", "workers/i-1", ["one"])
    fake.aws.put_log_events("group", "workers/i-1", ["two"])
    assert fake.streams == {"workers/i-1": ["one", "two"]}
    assert len(fake.asked) == 4


def test_log_events_keep_their_order_by_time() -> None:
    fake = FakeAws(streams={"stream": []})
    fake.aws.put_log_events("group", "stream", ["one", "two"])
    events = json.loads(fake.asked[0].body)["logEvents"]
    assert [(event["message"], event["timestamp"]) for event in events] == [("one", 1.7e12), ("two", 1.7e12 + 1)]


@pytest.mark.parametrize("document", ["nonsense", "[]", '{"AccessKeyId": "A"}'])
def test_a_node_without_credentials_is_named(document: str) -> None:
    def answer(request: Request) -> bytes:
        return document.encode() if request.url.endswith("/nodes") else b"nodes"

    with pytest.raises(NodeError, match="no credentials of role 'nodes'"):
        _ = InstanceMetadata(answer).credentials


class Server(BaseHTTPRequestHandler):
    """Redirects, fails, or answers with the body."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response({"/moved": 301, "/bad": 400, "/bad-short": 500}.get(self.path, 200))
        self.send_header("Location", "/elsewhere")
        self.send_header("Content-Length", str(len(body) + (9 if self.path.endswith("short") else 0)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing."""


def test_requests_are_sent_and_redirects_refused() -> None:
    server = HTTPServer(("127.0.0.1", 0), Server)
    Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    try:
        assert send(Request("POST", f"{url}/", body=b"content")) == b"content"
        for path, status in (("/moved", 301), ("/bad", 400)):
            with pytest.raises(HttpError) as caught:
                send(Request("POST", f"{url}{path}", body=b"why"))
            assert (caught.value.status, caught.value.content) == (status, b"why")
        with pytest.raises(UnreachableError, match="IncompleteRead"):
            send(Request("POST", f"{url}/short", body=b"content"))
        with pytest.raises(HttpError, match="HTTP status 500: no content"):
            send(Request("POST", f"{url}/bad-short", body=b"content"))
    finally:
        server.shutdown()
        server.server_close()
    with pytest.raises(UnreachableError, match="Connection refused"):
        send(Request("POST", f"{url}/", body=b"content"))


def test_a_listing_that_is_no_xml_is_an_error_of_the_node(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeAws()
    monkeypatch.setattr(fake, "send", lambda _: b"<html>")  # the page of a proxy
    with pytest.raises(NodeError, match="s3:ListObjectsV2: the response is not XML"):
        fake.aws.keys("b", "lifecycle/1/")
