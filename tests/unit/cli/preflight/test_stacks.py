"""The file's stacks, and the associations of an imported file system."""

from typing import Any

import pytest

from cli.preflight.associations import associations
from cli.preflight.changes import stacks
from tests.unit.cli.preflight import fake_aws
from tests.unit.cli.preflight.fake_aws import DENIED, IMPORTED, NO_STACKS, asked, only, outcomes

LINKED = IMPORTED.replace("abcdefg}}", "abcdefg}, data_repository_associations: [{path: /data}]}")


def in_state(status: str) -> dict[str, Any]:
    def describe(StackName: str) -> Any:  # noqa: N803  as boto3 spells it
        if not StackName.endswith("-Network"):
            return NO_STACKS
        return {"Stacks": [{"StackName": StackName, "StackStatus": status, "StackStatusReason": "so it is"}]}

    return {"cloudformation.describe_stacks": describe}


@pytest.mark.parametrize(
    ("status", "outcome", "remedy"),
    [
        ("UPDATE_COMPLETE", "ok", ""),
        ("UPDATE_ROLLBACK_COMPLETE", "ok", ""),
        ("UPDATE_IN_PROGRESS", "warning", "wait until it is done"),
        ("ROLLBACK_COMPLETE", "warning", "the CDK deletes and recreates it"),
        ("UPDATE_ROLLBACK_FAILED", "error", "`./hpod continue-rollback draft` continues it"),
        ("CREATE_FAILED", "warning", "`cdk rollback 'draft-Network'` rolls it back"),
        ("UPDATE_FAILED", "warning", "`cdk rollback 'draft-Network'` rolls it back"),
        ("IMPORT_ROLLBACK_FAILED", "warning", "fix that before you deploy"),
        ("DELETE_FAILED", "error", "fix the reason"),
    ],
)
def test_a_stack_that_cloudformation_cannot_update_is_reported(status: str, outcome: str, remedy: str) -> None:
    found = only(asked(stacks, in_state(status)))
    assert (found.outcome, found.message) == (outcome, f"draft-Network is {status}: so it is")
    assert remedy in found.fix


BOOTSTRAP = "arn:aws:iam::123456789012:role/cdk-team-cfn-exec-role-123456789012-us-west-2"
OTHER = "arn:aws:iam::123456789012:role/deployer"


@pytest.mark.parametrize(
    ("role", "status", "expected"),
    [
        (BOOTSTRAP, "UPDATE_COMPLETE", ["ok"]),
        (OTHER, "UPDATE_COMPLETE", ["ok", "warning"]),
        ("arn:aws:iam::123456789012:role/team/cdk-team-cfn-exec-role-1", "UPDATE_COMPLETE", ["ok", "warning"]),
        ("", "UPDATE_ROLLBACK_COMPLETE", ["ok", "warning"]),
        (OTHER, "ROLLBACK_COMPLETE", ["warning"]),
    ],
)
def test_a_role_that_the_script_buckets_policy_refuses_is_a_warning(role: str, status: str, expected: list[str]) -> None:
    def describe(StackName: str) -> Any:  # noqa: N803  as boto3 spells it
        told = {"StackName": StackName, "StackStatus": status, **({"RoleARN": role} if role else {})}
        return {"Stacks": [told]} if StackName.endswith("-Cluster") else NO_STACKS

    found = asked(stacks, {"cloudformation.describe_stacks": describe})
    assert outcomes(found) == expected
    if len(expected) == 2:
        used = f"role {role}" if role else "the caller's own permissions"
        assert found[-1].message.startswith(f"draft.yaml: draft-Cluster was deployed with {used}, which could not change")
        assert "without --role-arn" in found[-1].fix


def account(*links: tuple[str, str], **lustre: Any) -> dict[str, Any]:
    """An account whose file system has these associations, by id and directory."""
    told = [
        {"AssociationId": name, "FileSystemPath": path, "DataRepositoryPath": "s3://theirs", "Lifecycle": "AVAILABLE"}
        for name, path in links
    ]
    found = {"FileSystemTypeVersion": "2.15", "LustreConfiguration": {"DeploymentType": "PERSISTENT_2", **lustre}}
    return {
        "fsx.describe_data_repository_associations": {"Associations": told},
        "fsx.describe_file_systems": {"FileSystems": [found]},
    }


def test_a_file_system_with_room_takes_them() -> None:
    assert (
        only(asked(associations, account(("dra-1", "/other")), LINKED)).message == "fs-00000001 has 1 others, and has room for 1"
    )


@pytest.mark.parametrize("path", ["/data", "/data/deep", "/"])
def test_a_directory_that_is_linked_already_is_an_error(path: str) -> None:
    found = only(asked(associations, account(("dra-1", path)), LINKED))
    assert found.outcome == "error"
    assert f"fs-00000001 links {path} to s3://theirs already (dra-1)" in found.message
    assert outcomes(asked(associations, account(("dra-1", "/database")), LINKED)) == ["ok"]


def test_more_than_eight_are_an_error() -> None:
    links = [(f"dra-{number}", f"/{number}") for number in range(8)]
    assert outcomes(asked(associations, account(*links[:7]), LINKED)) == ["ok"]
    assert outcomes(asked(associations, account(*links), LINKED)) == ["error"]


def test_all_pages_of_associations_are_read() -> None:
    def describe(NextToken: str = "", **_: Any) -> dict[str, Any]:  # noqa: N803  as boto3 spells it
        pages = {"": ("/one", "2"), "2": ("/two", "3"), "3": ("/data", "")}
        path, following = pages[NextToken]
        [association] = account(("dra-1", path))["fsx.describe_data_repository_associations"]["Associations"]
        return {"Associations": [association], **({"NextToken": following} if following else {})}

    found = only(asked(associations, account() | {"fsx.describe_data_repository_associations": describe}, LINKED))
    assert "links /data" in found.message


def test_those_of_the_files_own_stack_are_not_in_their_own_way() -> None:
    resource = {"ResourceType": "AWS::FSx::DataRepositoryAssociation", "PhysicalResourceId": "dra-1"}
    own = {
        "cloudformation.describe_stacks": fake_aws.stacks(Storage={}),
        "cloudformation.describe_stack_resources": {"StackResources": [resource]},
    }
    assert outcomes(asked(associations, account(("dra-1", "/data")) | own, LINKED)) == ["ok"]


def test_a_file_system_without_associations_or_with_backups_is_reported() -> None:
    assert outcomes(asked(associations, account(DeploymentType="SCRATCH_1"), LINKED)) == ["error"]
    assert outcomes(asked(associations, account(AutomaticBackupRetentionDays=7), LINKED)) == ["warning"]


def test_an_overlap_is_reported_although_the_file_system_may_not_be_described() -> None:
    overlapping = account(("dra-1", "/data")) | {"fsx.describe_file_systems": DENIED}
    assert outcomes(asked(associations, overlapping, LINKED)) == ["error", "warning"]
