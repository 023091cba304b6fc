"""Tokens of EKS, made as `aws eks get-token` makes them, and what a webhook answers."""

import base64
import json
import urllib.request
from typing import Any

from botocore.auth import SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from tests.simulator.eks.world import REGION, World

STS = f"https://sts.{REGION}.amazonaws.com"


def token(
    keys: dict[str, str],
    *,
    cluster: str = "ml",
    url: str = f"{STS}/",
    query: str = "Action=GetCallerIdentity&Version=2011-06-15",
    service: str = "sts",
    expires: int = 60,
    headers: dict[str, str] | None = None,
) -> str:
    """A token that these keys sign."""
    signed = AWSRequest("GET", f"{url}?{query}", headers={"x-k8s-aws-id": cluster} if headers is None else headers)
    names = ("aws_access_key_id", "aws_secret_access_key", "aws_session_token")
    SigV4QueryAuth(Credentials(*(keys.get(name) for name in names)), service, REGION, expires=expires).add_auth(signed)
    return encoded(signed.url)


def encoded(url: str) -> str:
    return "k8s-aws-v1." + base64.urlsafe_b64encode(url.encode()).decode().rstrip("=")


def review(world: World, kind: str, spec: dict[str, Any], number: int = 0) -> dict[str, Any]:
    """The status with which a webhook of a cluster answers its API server."""
    group = {"TokenReview": "authentication", "SubjectAccessReview": "authorization"}[kind]
    name = {"TokenReview": "token_webhook", "SubjectAccessReview": "authorization_webhook"}[kind]
    body = json.dumps({"apiVersion": f"{group}.k8s.io/v1", "kind": kind, "spec": spec}).encode()
    with urllib.request.urlopen(world.programs.planes[number].webhooks[name], body) as response:
        answer = json.load(response)
    assert (answer["apiVersion"], answer["kind"]) == (f"{group}.k8s.io/v1", kind)
    status: dict[str, Any] = answer["status"]
    return status
