"""AWS and the metadata service for the agent's tests: what they answer, and what they were asked."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from hyperpod_node.follow.aws import Aws
from hyperpod_node.follow.credentials import InstanceMetadata
from hyperpod_node.follow.http import HttpError, Request
from tests.unit.hyperpod_node.manual_time import ManualTime

KEYS = json.dumps({"AccessKeyId": "ASIA", "SecretAccessKey": "s", "Token": "t"})
PAGE = 2  # keys


@dataclass
class FakeAws:
    """One parameter, one bucket's objects by key, and the lines of log streams."""

    parameter: str | None = None
    objects: dict[str, bytes] = field(default_factory=dict)
    streams: dict[str, list[str]] = field(default_factory=dict)
    failures: list[Exception] = field(default_factory=list)  # of the next calls
    asked: list[Request] = field(default_factory=list)
    time: ManualTime = field(default_factory=ManualTime)
    variables: dict[str, str] = field(default_factory=dict)
    region: str = "us-west-2"
    modified_s: float | None = None  # of the parameter

    @property
    def aws(self) -> Aws:
        return Aws(InstanceMetadata(self.metadata), self.send, self.variables, self.time.clock, lambda: 1.7e9)

    @property
    def records(self) -> list[dict[str, Any]]:
        return [json.loads(line) for lines in self.streams.values() for line in lines]

    def metadata(self, request: Request) -> bytes:
        path = urlsplit(request.url).path
        if request.method == "PUT":
            return b"token"
        assert request.headers == {"X-aws-ec2-metadata-token": "token"}
        folder = "/latest/meta-data/iam/security-credentials/"
        return {folder: "nodes", f"{folder}nodes": KEYS, "/latest/meta-data/placement/region": self.region}[path].encode()

    def send(self, request: Request) -> bytes:
        self.asked.append(request)
        if self.failures:
            raise self.failures.pop(0)
        action = request.headers.get("X-Amz-Target", "S3").rpartition(".")[2]
        return self._s3(request) if action == "S3" else self._json(action, json.loads(request.body))

    def _json(self, action: str, content: dict[str, Any]) -> bytes:
        if action == "GetParameter":
            if self.parameter is None:
                raise error(400, "ParameterNotFound")
            return json.dumps({"Parameter": {"Value": self.parameter, "LastModifiedDate": self.modified_s}}).encode()
        name = content["logStreamName"]
        if action == "CreateLogStream":
            self.streams[name] = []
        elif name not in self.streams:
            raise error(400, "ResourceNotFoundException")
        else:
            self.streams[name] += [event["message"] for event in content["logEvents"]]
        return b"{}"

    def _s3(self, request: Request) -> bytes:
        url = urlsplit(request.url)
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        if not query:
            key = unquote(url.path).split("/", 2)[2]
            if key not in self.objects:
                raise HttpError(403, b"<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>")
            return self.objects[key]
        start = int(query.get("continuation-token", 0))
        keys = sorted(key for key in self.objects if key.startswith(query["prefix"]))
        listed = "".join(f"<Contents><Key>{key}</Key></Contents>" for key in keys[start : start + PAGE])
        rest = keys[start + PAGE :]
        more = f"<NextContinuationToken>{start + PAGE}</NextContinuationToken>" if rest else ""
        return f'<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">{listed}{more}</ListBucketResult>'.encode()


def error(status: int, code: str) -> HttpError:
    return HttpError(status, json.dumps({"__type": f"com.amazonaws#{code}", "message": f"it is {code}"}).encode())
