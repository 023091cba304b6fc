"""Which requests the embedded AWS takes: those of known keys, whose signatures are right, and of no web page."""

import http.client
import io
import json
import urllib.error
import urllib.request
from typing import Any
from urllib.parse import urlsplit

import boto3
import pytest
from botocore import UNSIGNED
from botocore.config import Config
from botocore.exceptions import ClientError

from local_aws.credentials import CONTROL_HEADER, OWNER
from local_aws.server import EmbeddedAws
from local_aws.testing import REGION, Client
from tests.simulator.machinery.account import Account, refusal

pytestmark = pytest.mark.local
BUCKET = "signed-bucket"
# One service of each protocol: query, ec2, rest-xml, json, rest-json, cbor. Where an unsigned request does not show the service,
# its refusal is not in the service's form.
CALLS = {
    "sts": ("get_caller_identity", "MissingAuthenticationToken", "InvalidClientTokenId", "SignatureDoesNotMatch"),
    "ec2": ("describe_vpcs", "", "AuthFailure", "AuthFailure"),
    "s3": ("list_buckets", "AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch"),
    "fsx": (
        "describe_file_systems",
        "MissingAuthenticationToken",
        "UnrecognizedClientException",
        "InvalidSignatureException",
    ),
    "lambda": ("list_functions", "", "UnrecognizedClientException", "InvalidSignatureException"),
    "cloudwatch": ("describe_alarms", "MissingAuthenticationToken", "UnrecognizedClientException", "InvalidSignatureException"),
}


def refused(make: Client, service: str, **options: Any) -> str:
    """The code of the error with which a simple call of a service is refused."""
    return refusal(getattr(make(service, **options), CALLS[service][0]))


@pytest.mark.parametrize("service", CALLS)
def test_a_key_that_is_unknown_or_missing_or_used_with_another_secret_is_refused(client: Client, service: str) -> None:
    _, unsigned, unknown, wrong = CALLS[service]
    assert refused(client, service, aws_access_key_id="AKIAIOSFODNN7EXAMPLE") == unknown
    assert refused(client, service, aws_secret_access_key="guessed") == wrong
    if unsigned:
        assert refused(client, service, config=Config(signature_version=UNSIGNED)) == unsigned


def test_the_keys_of_sessions_and_users_are_known_until_they_are_not(account: Account) -> None:
    trusting = {"Effect": "Allow", "Principal": {"AWS": "arn:aws:iam::123456789012:root"}, "Action": "sts:AssumeRole"}
    document = json.dumps({"Version": "2012-10-17", "Statement": [trusting]})
    role = account.iam.create_role(RoleName="r", AssumeRolePolicyDocument=document)["Role"]["Arn"]
    made = account.sts.assume_role(RoleArn=role, RoleSessionName="me")["Credentials"]
    keys = {"aws_access_key_id": made["AccessKeyId"], "aws_secret_access_key": made["SecretAccessKey"]}
    assert "assumed-role/r/me" in account.with_keys("sts", **keys).get_caller_identity()["Arn"]

    account.iam.create_user(UserName="u")
    made = account.iam.create_access_key(UserName="u")["AccessKey"]
    keys = {"aws_access_key_id": made["AccessKeyId"], "aws_secret_access_key": made["SecretAccessKey"]}
    users = account.with_keys("sts", **keys)
    assert users.get_caller_identity()["Arn"].endswith("user/u")
    account.iam.update_access_key(UserName="u", AccessKeyId=made["AccessKeyId"], Status="Inactive")
    with pytest.raises(ClientError, match="InvalidClientTokenId"):
        users.get_caller_identity()


@pytest.mark.parametrize("key", ["plain", "a b+c/ü~!*'().txt", "a//b/../c", "100%/?x=1&y", "=;,:@$"])
def test_objects_of_any_name_can_be_signed_for(account: Account, key: str) -> None:
    bucket(account)
    account.s3.upload_fileobj(io.BytesIO(b"content"), BUCKET, key, ExtraArgs={"Metadata": {"a_b": "two  spaces"}})
    account.s3.copy_object(Bucket=BUCKET, Key=f"{key}-copy", CopySource={"Bucket": BUCKET, "Key": key})
    assert account.s3.get_object(Bucket=BUCKET, Key=f"{key}-copy")["Body"].read() == b"content"
    listed = account.s3.list_objects_v2(Bucket=BUCKET, Prefix=key, Delimiter="+&= ")["Contents"]
    assert [each["Key"] for each in listed] == [key, f"{key}-copy"]
    account.s3.delete_objects(Bucket=BUCKET, Delete={"Objects": [{"Key": key}, {"Key": f"{key}-copy"}]})


def test_a_path_with_an_arn_can_be_signed_for(account: Account) -> None:
    function = account.function("f", "def handler(event, context): return event")
    arn = account.lambda_.get_function(FunctionName=function)["Configuration"]["FunctionArn"]
    account.lambda_.tag_resource(Resource=arn, Tags={"a b": "ü+/="})
    assert account.lambda_.list_tags(Resource=arn)["Tags"]["a b"] == "ü+/="


def test_a_presigned_url_works_as_it_was_signed_and_no_other_way(account: Account, client: Client) -> None:
    bucket(account)
    s3 = client("s3", config=Config(signature_version="s3v4"))
    s3.put_object(Bucket=BUCKET, Key="k e+y", Body=b"content")
    url = s3.generate_presigned_url("get_object", {"Bucket": BUCKET, "Key": "k e+y"})
    with urllib.request.urlopen(url) as answer:
        assert answer.read() == b"content"
    odd = (url.replace("SignedHeaders=", "SignedHeaders=%E2%82%AC"), url.replace("Signature=", "Signature=%E2%82%AC"))
    for forged in (url.replace("k%20e", "other"), url.replace(OWNER.access_key, "AKIAIOSFODNN7EXAMPLE"), url.split("?")[0], *odd):
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(forged)
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(urllib.request.Request(url, b"other content", method="PUT"))


def test_the_secret_of_one_key_does_not_open_what_the_header_claims_for_another(aws: EmbeddedAws, account: Account) -> None:
    """Both the check of the signature and that of the policies must read the same key."""
    bucket(account)
    url = urlsplit(account.s3.generate_presigned_url("list_objects_v2", {"Bucket": BUCKET}))
    for claim in (f"Bearer Credential={OWNER.access_key}/x", f"AWS4-HMAC-SHA256 X=Credential={OWNER.access_key}/x, Signature=0"):
        assert send(aws, "GET", f"{url.path}?{url.query}", Authorization=claim) == 403


def send(aws: EmbeddedAws, method: str, path: str, **headers: str) -> int:
    """The status of the answer to a request."""
    connection = http.client.HTTPConnection(urlsplit(aws.endpoint).netloc)
    connection.request(method, path, None, headers)
    answer = connection.getresponse()
    assert "Access-Control-Allow-Origin" not in answer.headers
    connection.close()
    return answer.status


def test_the_owners_own_requests_are_refused_from_a_web_page_or_under_a_foreign_name(aws: EmbeddedAws) -> None:
    token = {CONTROL_HEADER: OWNER.control_token}
    for host in ("127.0.0.1", "127.0.0.1:1", "LocalHost", "bucket.s3.localhost:1"):
        assert send(aws, "GET", "/_local_aws/health", Host=host, **token) == 200
    for host in ("evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "", "10.0.0.1"):
        assert send(aws, "GET", "/_local_aws/health", Host=host, **token) == 403
    for origin in ("https://evil.example", "null", ""):
        assert send(aws, "GET", "/_local_aws/health", Origin=origin, **token) == 403


def test_signed_requests_are_refused_from_a_web_page_or_under_a_foreign_name(aws: EmbeddedAws, account: Account) -> None:
    bucket(account)
    for foreign, status in (({}, 200), ({"Origin": "null"}, 403), ({"Host": "evil.example"}, 403)):
        url = urlsplit(presigned(aws, foreign.get("Host")))
        assert send(aws, "GET", f"{url.path}?{url.query}", **foreign) == status


def presigned(aws: EmbeddedAws, host: str | None) -> str:
    config = Config(signature_version="s3v4", s3={"addressing_style": "path"})
    endpoint = f"http://{host}" if host else aws.endpoint
    s3 = boto3.client("s3", endpoint_url=endpoint, region_name=REGION, config=config, **OWNER.client_keys)
    return str(s3.generate_presigned_url("list_objects_v2", {"Bucket": BUCKET}))


def test_its_own_paths_need_the_token_and_motos_are_off(aws: EmbeddedAws) -> None:
    token = {CONTROL_HEADER: OWNER.control_token}
    for path in ("/_local_aws/health", "/_local_aws/iam", "/_local_aws/no-such-path", "/_local_aws/"):
        assert send(aws, "GET", path) == 403
        assert send(aws, "GET", path, **{CONTROL_HEADER: "guessed"}) == 403
    assert send(aws, "GET", "/_local_aws/health", **token) == 200
    for path in ("/moto-api/", "/moto-api/data.json", "/moto-api/reset"):
        assert send(aws, "POST", path, **token) == 403


def test_an_answer_of_a_custom_resource_needs_no_token_but_its_own(aws: EmbeddedAws) -> None:
    assert send(aws, "PUT", "/_local_aws/cfn-response/unknown") == 200
    assert send(aws, "PUT", "/_local_aws/cfn-response/unknown", Origin="https://evil.example") == 403


def bucket(account: Account) -> None:
    account.bucket(BUCKET)
