"""Fixtures hold no secret and no identity, and stay comparable."""

import json
from pathlib import Path

import pytest

from tests.verify_aws.compare import normalized
from tests.verify_aws.evidence import Evidence
from tests.verify_aws.redaction import Redactor, identities

# In pieces, so that a search for leaked secrets does not find this file.
KEY = "AKIA" + "IOSFODNN7EXAMPLE"
PRIVATE = "-----BEGIN OPENSSH PRIVATE " + "KEY-----\nb3BlbnNzaC1rZXktdjEAAA\n-----END OPENSSH PRIVATE " + "KEY-----"
PLANTED = {
    "account": ("owner 210987654321 of it", "210987654321"),
    "role": ('"arn:aws:iam::210987654321:role/verify-NodeRole-1X2Y3Z"', "NodeRole"),
    "cluster ARN": ("arn:aws:sagemaker:us-west-2:210987654321:cluster/abc123def456", "abc123def456"),
    "bucket ARN": ("arn:aws:s3:::my-private-data/*", "my-private-data"),
    "bucket": ("s3://my-private-data-210987654321/lifecycle/1/", "my-private-data"),
    "instance": ("LifecycleConfig/workers/i-0123456789abcdef0", "i-0123456789abcdef0"),
    "interface": ("eni-0a1b2c3d4e5f60718", "eni-0a1b2c3d4e5f60718"),
    "subnet": ("subnet-0a1b2c3d4e5f60718", "0a1b2c3d4e5f60718"),
    "VPC": ("vpc-0a1b2c3d", "0a1b2c3d"),
    "security group": ("sg-0a1b2c3d4e5f60718,", "0a1b2c3d4e5f60718"),
    "file system": ("fs-0a1b2c3d4e5f60718.fsx.us-west-2.amazonaws.com", "0a1b2c3d4e5f60718"),
    "stack": ("96233c31-86eb-48d5-aed6-cc34c0823c4b", "96233c31"),
    "address": ("NodeAddr=10.1.20.37 NodeHostname=x", "10.1.20.37"),
    "host": ("NodeName=ip-10-1-20-37 up", "10-1-20-37"),
    "host list": ("NodeName=ip-10-1-4-[7,9-12] State=UNKNOWN", "10-1-4-"),
    "host list of an octet": ("ip-10-1-[4-5]-[7,9] idle", "10-1-"),
    "network ACL": ("acl-0a1b2c3d4e5f60718", "0a1b2c3d4e5f60718"),
    "address association": ("eipassoc-0a1b2c3d4e5f60718", "0a1b2c3d4e5f60718"),
    "launch template": ("lt-0a1b2c3d4e5f60718", "0a1b2c3d4e5f60718"),
    "route association": ("rtbassoc-0a1b2c3d4e5f60718", "0a1b2c3d4e5f60718"),
    "volume of FSx": ("fsvol-0a1b2c3d4e5f60718", "0a1b2c3d4e5f60718"),
    "transit gateway": ("tgw-0a1b2c3d4e5f60718", "0a1b2c3d4e5f60718"),
    "IPv6": ("inet6 fd00:ec2::254 scope", "fd00:ec2"),
    "hardware address": ("ether 02:42:ac:11:00:02", "02:42:ac"),
    "hardware address in upper case": ("ether 02:42:AC:11:00:02", "02:42:AC"),
    "role of a person": ("AWSReservedSSO_Admin_0a1b2c3d4e5f6071/jane is allowed", "jane"),
    "e-mail": ("user jane.doe+aws@example.org", "jane.doe"),
    "access key": (f"key {KEY}", KEY),
    "principal": ("AROA1234567890ABCDEFG:botocore-session", "AROA1234567890ABCDEFG"),
    "session": ("AROA1234567890ABCDEFG:jane did it", "jane"),
    "password": ("StoragePass=correct-horse", "correct-horse"),
    "token": ("--token s3cr3t-t0ken", "s3cr3t-t0ken"),
    "signed URL": ("https://bucket.s3.amazonaws.com/k?X-Amz-Signature=0abc", "0abc"),
    "public key": ("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIB jane@laptop", "AAAAC3NzaC1lZDI1NTE5"),
    "private key": (PRIVATE, "b3BlbnNzaC1rZXktdjEAAA"),
}


@pytest.mark.parametrize("kind", PLANTED)
def test_what_is_planted_is_gone(kind: str, tmp_path: Path) -> None:
    text, secret = PLANTED[kind]
    assert secret in text
    evidence = Evidence(tmp_path)
    evidence.text("node.conf", f"first {text}\nlast line\n")
    evidence.call("created", "DescribeCluster", {"Some": text}, {"List": [{"Deep": text, text: 1}]})
    evidence.text("resource_config.json", json.dumps({"Deep": [text]}))
    saved = [file.read_text() for file in tmp_path.rglob("*") if file.is_file()]
    assert len(saved) == 3
    assert not [each for each in saved if secret in each], saved
    assert list(identities(saved)) == []
    assert "last line" in (tmp_path / "node.conf").read_text()


def test_names_of_files_are_redacted(tmp_path: Path) -> None:
    Evidence(tmp_path).text("logs/LifecycleConfig/workers/i-0123456789abcdef0.log", "line")
    assert [str(file.relative_to(tmp_path)) for file in tmp_path.rglob("*.log")] == [
        "logs/LifecycleConfig/workers/instance-1.log"
    ]


def test_members_with_the_name_of_a_secret_lose_their_value() -> None:
    assert Redactor().json({"MasterPassword": "plain", "NextToken": None, "SecretArn": "arn:aws:x:y:1:z"}) == {
        "MasterPassword": "***",
        "NextToken": None,
        "SecretArn": "<arn:x-1>",
    }


def test_the_same_value_has_the_same_placeholder_in_all_files(tmp_path: Path) -> None:
    evidence = Evidence(tmp_path)
    evidence.text("a", "10.1.0.4 i-0123456789abcdef0 10.1.0.5")
    evidence.text("b", "ip-10-1-0-5 ip-10-1-0-4 i-0123456789abcdef0 i-00000000000000001")
    assert (tmp_path / "a").read_text() == "<address-1> <instance-1> <address-2>"
    assert (tmp_path / "b").read_text() == "ip-<address-2> ip-<address-1> <instance-1> <instance-2>"


@pytest.mark.parametrize(
    "text",
    [
        "127.0.0.1",
        "0.0.0.0/0",
        "slurm 24.11.5",
        "aws-cli/1.2.707.0.1",
        "ip-address of the node",
        "a-0123456789abcdef01",
        "2026-11-22T18:53:08.650000+00:00",
        "StateSaveLocation=/var/spool",
    ],
)
def test_text_without_an_identity_is_kept(text: str) -> None:
    assert Redactor()(text) == text


def test_a_literal_is_replaced_where_no_pattern_knows_it() -> None:
    redactor = Redactor()
    redactor.literal("verify-1-abcdef", "cluster")
    redactor.literal("verify-1", "name")
    assert (
        redactor("/aws/sagemaker/Clusters/verify-1-abcdef and verify-1-Network")
        == "/aws/sagemaker/Clusters/<cluster-1> and <name-1>-Network"
    )


def test_two_runs_in_two_regions_are_equal_without_what_varies() -> None:
    first = normalized({"Host": "ip-<address-3>.us-west-2.internal", "At": "2026-11-22T18:53:08.650000+00:00"}, "us-west-2")
    second = normalized({"Host": "ip-<address-7>.eu-west-1.internal", "At": "2027-01-01T00:00:00Z"}, "eu-west-1")
    assert first == second


def test_hosts_in_a_list_have_placeholders_like_hosts() -> None:
    assert Redactor()("ip-10-1-4-[7,9-12] ip-10-1-4-7,ip-10-1-4-[7,9-12]") == ("ip-<address-1> ip-<address-2>,ip-<address-1>")
