"""Attack an embedded AWS as another user: `python -m tests.simulator.machinery.as_nobody ENDPOINT STATE_FILE BUCKET`, as root.

Prints what became of each attempt as JSON, `refused: ...` or `succeeded`. The root rights are dropped after the imports, since
another user may not be able to read this checkout.
"""

import encodings.idna
import http.client
import io
import json
import os
import sys
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from urllib.parse import urlsplit

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

NOBODY = 65534
ROLE = "arn:aws:iam::123456789012:role/evil"
TRUSTED = {"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole"}
TRUST = json.dumps({"Version": "2012-10-17", "Statement": [TRUSTED]})
Attempt = Callable[[], str]


def main(endpoint: str, state_file: str, bucket: str) -> None:
    """Drop the root rights and try everything."""
    assert encodings.idna, "HTTP clients import it late, when it may not be readable any more"
    attempts = {**api_calls(endpoint, bucket), **http_requests(endpoint, bucket), **file_reads(Path(state_file))}
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)
    print(json.dumps({"uid": os.getuid(), "attempts": {name: attempt() for name, attempt in attempts.items()}}))


def api_calls(endpoint: str, bucket: str) -> dict[str, Attempt]:
    """Calls that are signed with a key of the attacker's."""
    keys = {"aws_access_key_id": "AKIAIOSFODNN7EXAMPLE", "aws_secret_access_key": "guessed"}
    config = Config(retries={"total_max_attempts": 1})

    def call(service: str, method: str, **request: object) -> Attempt:
        client = boto3.client(service, endpoint_url=endpoint, region_name="us-west-2", config=config, **keys)

        def attempt() -> str:
            try:
                getattr(client, method)(**request)
            except ClientError as error:
                return f"refused: {error.response['Error']['Code']}"
            return "succeeded"

        return attempt

    code = {"ZipFile": archive("def handler(event, context): return 1")}
    function = {"Runtime": "python3.13", "Role": ROLE, "Handler": "index.handler", "Code": code}
    return {
        "create_role": call("iam", "create_role", RoleName="evil", AssumeRolePolicyDocument=TRUST),
        "create_function": call("lambda", "create_function", FunctionName="evil", **function),
        "invoke": call("lambda", "invoke", FunctionName="evil"),
        "list_buckets": call("s3", "list_buckets"),
        "put_object": call("s3", "put_object", Bucket=bucket, Key="planted", Body=b"x"),
        "assume_role": call("sts", "assume_role", RoleArn=ROLE, RoleSessionName="evil"),
        "describe_vpcs": call("ec2", "describe_vpcs"),
        "list_clusters": call("sagemaker", "list_clusters"),
    }


def http_requests(endpoint: str, bucket: str) -> dict[str, Attempt]:
    """Requests without a signature, as other users and web pages send them."""
    form = b'--b\r\nContent-Disposition: form-data; name="key"\r\n\r\nplanted\r\n'
    form += b'--b\r\nContent-Disposition: form-data; name="file"\r\n\r\nx\r\n--b--\r\n'
    kind, web = {"Content-Type": "multipart/form-data; boundary=b"}, {"Origin": "https://evil.example"}
    foreign = {"Host": "evil.example"}

    def send(method: str, path: str, body: bytes = b"", headers: Mapping[str, str] = MappingProxyType({})) -> Attempt:
        def attempt() -> str:
            connection = http.client.HTTPConnection(urlsplit(endpoint).netloc)
            connection.request(method, path, body or None, headers)
            answer = connection.getresponse()
            answer.read()
            allowed = answer.headers.get("Access-Control-Allow-Origin")
            return "succeeded" if answer.status < 400 or allowed else f"refused: {answer.status}"

        return attempt

    return {
        "read moto's data": send("GET", "/moto-api/data.json"),
        "list a bucket unsigned": send("GET", f"/{bucket}"),
        "post a form": send("POST", f"/{bucket}", form, kind),
        "post a web form": send("POST", f"/{bucket}", form, {**kind, **web}),
        "health under a foreign name": send("GET", "/_local_aws/health", headers=foreign),
        "list a bucket under a foreign name": send("GET", f"/{bucket}", headers=foreign),
        "reset": send("POST", "/_local_aws/reset"),
        "order a fault": send("POST", "/_local_aws/faults", b'{"operation": "sts:GetCallerIdentity"}'),
        "reset moto": send("POST", "/moto-api/reset"),
        "reset from a web page": send("POST", "/_local_aws/reset", headers=web),
        "reset moto from a web page": send("POST", "/moto-api/reset", headers=web),
    }


def file_reads(state_file: Path) -> dict[str, Attempt]:
    """Looks into the files of whoever started it."""

    def look(path: Path) -> Attempt:
        def attempt() -> str:
            try:
                list(path.iterdir()) if path.is_dir() else path.read_text()
            except PermissionError:
                return "refused: PermissionError"
            return "succeeded"

        return attempt

    return {"read state.json": look(state_file), "list .local_aws": look(state_file.parent)}


def archive(code: str) -> bytes:
    """A function's package with one module."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as files:
        files.writestr("index.py", code)
    return content.getvalue()


if __name__ == "__main__":
    main(*sys.argv[1:])
