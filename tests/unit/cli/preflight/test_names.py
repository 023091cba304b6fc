"""The cluster's name, and the names of buckets."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from cli.preflight.buckets import named_buckets, script_bucket
from cli.preflight.cluster import cluster_name
from config.bucket_names import script_bucket_name
from tests.unit.cli.preflight.fake_aws import ACCOUNT, FILE, IMPORTED, REGION, asked, only, outcomes, refused, stacks

NAMED = f"cluster_name: big\n{FILE}"
ROLE = f"overrides: {{ExecutionRole: arn:aws:iam::{ACCOUNT}:role/nodes}}"
ADOPTING = f"adopt: true\ncluster_name: big\nslurm: {{metadata_access: all}}\n{IMPORTED}".replace(
    "count: 1}", f"count: 1, {ROLE}}}"
).replace("count: 4}", f"count: 4, {ROLE}}}")
ARN = f"arn:aws:sagemaker:{REGION}:{ACCOUNT}:cluster/abcdefghijkl"
STACK = f"arn:aws:cloudformation:{REGION}:{ACCOUNT}:stack/draft-Cluster/1"
SCRIPTS = f"sagemaker-draft-{ACCOUNT}-{REGION}"


def owner(stack_id: str) -> dict[str, str]:
    return {"hyperpod-cdk:stack-id": stack_id, "hyperpod-cdk:logical-id": "Cluster", "hyperpod-cdk:version": "1"}


def live(status: str = "InService", tags: dict[str, str] | None = None) -> dict[str, Any]:
    """An account with the cluster `big`, and the calls that look at it."""
    return {
        "sagemaker.describe_cluster": {"ClusterName": "big", "ClusterArn": ARN, "ClusterStatus": status, "InstanceGroups": []},
        "sagemaker.list_tags": {"Tags": [{"Key": key, "Value": value} for key, value in (tags or {}).items()]},
        "sagemaker.list_cluster_nodes": {"ClusterNodeSummaries": []},
    }


RESOURCE = {
    "StackId": STACK,
    "LogicalResourceId": "Cluster",
    "ResourceType": "Custom::HyperPodCluster",
    "ResourceStatus": "CREATE_COMPLETE",
    "PhysicalResourceId": "big",
}


def test_a_name_that_no_cluster_has_is_free() -> None:
    assert (
        only(asked(cluster_name, {"sagemaker.describe_cluster": refused("ResourceNotFound")}, NAMED)).message
        == "no cluster big exists"
    )


def test_a_cluster_of_another_stack_is_in_the_way_and_its_owner_is_named() -> None:
    found = only(asked(cluster_name, live(tags=owner("arn:aws:cloudformation:::stack/theirs/1")), NAMED))
    assert found.outcome == "error"
    assert "belongs to resource Cluster of stack arn:aws:cloudformation:::stack/theirs/1" in found.message
    assert found.fix == "choose another `cluster_name`"


def test_a_cluster_without_owner_may_be_taken_over() -> None:
    found = only(asked(cluster_name, live(), NAMED))
    assert (found.outcome, found.fix) == (
        "error",
        "choose another `cluster_name`, or adopt it: `./hpod adopt draft` previews its adoption",
    )
    adopted = only(asked(cluster_name, live(), ADOPTING))
    assert adopted.outcome == "warning"
    assert "`adopt: true` adopts it" in adopted.message


def own(status: str = "InService") -> dict[str, Any]:
    """An account whose cluster `big` the file's stack owns."""
    resources = {"cloudformation.describe_stack_resources": {"StackResources": [RESOURCE]}}
    return {**live(status, owner(STACK)), "cloudformation.describe_stacks": stacks(Cluster={"ClusterName": "big"}), **resources}


@pytest.mark.parametrize("file", [NAMED, FILE], ids=["named in the file", "generated"])
def test_the_own_cluster_is_no_obstacle(file: str) -> None:
    assert only(asked(cluster_name, own(), file)).message == "big belongs to this file and is InService"


@pytest.mark.parametrize("status", ["Creating", "Updating", "RollingBack", "Deleting"])
def test_an_own_cluster_that_is_busy_is_a_warning(status: str) -> None:
    found = only(asked(cluster_name, own(status), NAMED))
    assert (found.outcome, found.fix) == ("warning", "wait: `./hpod status draft` shows when it is done")


def head(region: str = REGION) -> dict[str, Any]:
    return {"ResponseMetadata": {"HTTPHeaders": {"x-amz-bucket-region": region}}}


def kept_out(region: str = REGION) -> ClientError:
    """What S3 answers to those who may not look at a bucket that is there."""
    failure = refused("403")
    failure.response["ResponseMetadata"] = head(region)["ResponseMetadata"]
    return failure


@pytest.mark.parametrize(
    ("answer", "deployed", "outcome", "message"),
    [
        (refused("404"), False, "ok", f"the name {SCRIPTS} is free"),
        ({}, False, "error", f"bucket {SCRIPTS} already exists, and no stack of this file owns it"),
        ({}, True, "ok", ""),
        (kept_out(), False, "error", "another account owns it"),
        (kept_out(), True, "warning", ""),
        (refused("403"), False, "warning", "no permission to check this"),
    ],
    ids=["free", "of nobody", "of the stack", "of another account", "hidden from the caller", "may not exist"],
)
def test_the_scripts_bucket_is_free_or_the_stacks(answer: Any, deployed: bool, outcome: str, message: str) -> None:
    stack = {"cloudformation.describe_stacks": stacks(Cluster={})} if deployed else {}
    found = only(asked(script_bucket, {"s3.head_bucket": answer, **stack}))
    assert found.outcome == outcome
    assert message in found.message


def test_the_bucket_is_named_after_the_file_and_a_long_name_is_cut_to_what_s3_takes() -> None:
    name = script_bucket_name("a" * 31, ACCOUNT, "ap-southeast-1")
    assert len(name) <= 63
    assert name != script_bucket_name("a" * 30 + "b", ACCOUNT, "ap-southeast-1")


FILE_WITH_BUCKETS = IMPORTED.replace(
    "mount_name: abcdefg}}",
    "mount_name: abcdefg}, data_bucket: {existing: ours}, "
    "data_repository_associations: [{path: /d, bucket: theirs}, {path: /e}]}",
)


def test_every_bucket_that_is_named_must_be_there_and_in_the_region() -> None:
    def bucket(Bucket: str) -> Any:  # noqa: N803  as boto3 spells it
        return {"ours": head(), "theirs": refused("404")}[Bucket]

    found = asked(named_buckets, {"s3.head_bucket": bucket}, FILE_WITH_BUCKETS)
    assert [(each.outcome.value, each.message) for each in found] == [
        ("ok", "bucket ours is there"),
        ("error", "no bucket theirs"),
    ]
    elsewhere = asked(named_buckets, {"s3.head_bucket": head("us-east-1")}, FILE_WITH_BUCKETS)
    assert outcomes(elsewhere) == ["error", "error"]
    assert elsewhere[0].fix == "use a bucket in us-west-2"


def test_a_bucket_of_another_region_may_be_exported_to() -> None:
    only_exports = "import_metadata_on_create: false, auto_import: []"
    file = FILE_WITH_BUCKETS.replace("bucket: theirs", f"bucket: theirs, {only_exports}")
    assert outcomes(asked(named_buckets, {"s3.head_bucket": head("us-east-1")}, file)) == ["error", "ok"]
    unlinked = file.replace("{path: /e}", f"{{path: /e, bucket: theirs, prefix: e, {only_exports}}}")
    found = asked(named_buckets, {"s3.head_bucket": kept_out("us-east-1")}, unlinked)
    assert outcomes(found) == ["ok", "ok"]
    assert "exports only" in found[0].message


def test_a_bucket_that_may_not_be_looked_at_is_a_warning_and_one_of_another_region_an_error_all_the_same() -> None:
    assert outcomes(asked(named_buckets, {"s3.head_bucket": refused("403")}, FILE_WITH_BUCKETS)) == ["warning", "warning"]
    assert outcomes(asked(named_buckets, {"s3.head_bucket": kept_out("us-east-1")}, FILE_WITH_BUCKETS)) == ["error", "error"]
    assert outcomes(asked(named_buckets, {"s3.head_bucket": kept_out()}, FILE_WITH_BUCKETS)) == ["warning", "warning"]
