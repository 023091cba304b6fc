"""The node's signatures are those of the SDK."""

from __future__ import annotations

import calendar
import random
import string
import time
from urllib.parse import quote, urlencode

import botocore.auth
import pytest
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials as SdkCredentials

from hyperpod_node.follow.credentials import Credentials, signed
from hyperpod_node.follow.http import Request

OURS = Credentials("ASIAEXAMPLE", "secret/with+signs", "token/with+signs=")
SIGNERS = {"s3": botocore.auth.S3SigV4Auth, "ssm": botocore.auth.SigV4Auth, "logs": botocore.auth.SigV4Auth}
CHARACTERS = f"{string.ascii_letters}{string.digits} /-_.~!*'()&=+%$,:;@äß"


def a_request(service: str, chance: random.Random) -> Request:
    """A request in the forms that the node sends."""

    def text(most: int) -> str:
        return "".join(chance.choices(CHARACTERS, k=chance.randint(1, most)))

    host = chance.choice(["https://s3.us-west-2.amazonaws.com", "http://127.0.0.1:4566", "https://example.org:8443"])
    if service != "s3":
        headers = {"Content-Type": "application/x-amz-json-1.1", "X-Amz-Target": "Some.Action"}
        return Request("POST", f"{host}/", headers, text(200).encode())
    if chance.random() < 0.5:
        query = {"list-type": "2", "prefix": text(30), "continuation-token": text(30)}
        return Request("GET", f"{host}/bucket/?{urlencode(sorted(query.items()), quote_via=quote, safe='')}")
    return Request("GET", f"{host}/bucket/lifecycle/{quote(text(40))}")


@pytest.mark.parametrize("service", SIGNERS)
@pytest.mark.parametrize("seed", range(20))
def test_a_signature_is_the_sdk_s(service: str, seed: int) -> None:
    request = a_request(service, random.Random(f"{service} {seed}"))
    theirs = AWSRequest(request.method, request.url, dict(request.headers), request.body)
    SIGNERS[service](SdkCredentials(OURS.access_key, OURS.secret_key, OURS.token), service, "us-west-2").add_auth(theirs)
    moment = calendar.timegm(time.strptime(theirs.headers["X-Amz-Date"], "%Y%m%dT%H%M%SZ"))

    ours = signed(request, service, "us-west-2", OURS, moment)

    assert ours.headers["Authorization"] == theirs.headers["Authorization"]
    assert ours.headers["X-Amz-Security-Token"] == theirs.headers["X-Amz-Security-Token"]
    assert ours.headers.get("X-Amz-Content-SHA256") == theirs.headers.get("X-Amz-Content-SHA256")


def test_credentials_are_not_printed() -> None:
    assert "secret" not in repr(OURS)
    assert "token/" not in repr(OURS)
