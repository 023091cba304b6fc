"""The check for file systems that `cdk destroy` kept."""

from datetime import UTC, datetime
from typing import Any

from cli.preflight.file_systems import kept_file_systems
from config.tags import CLUSTER_TAG
from tests.unit.cli.preflight.fake_aws import DENIED, IMPORTED, FakeAws, asked, only, outcomes, stacks


def file_system(cluster: str = "draft", **changes: Any) -> dict[str, Any]:
    return {
        "FileSystemId": "fs-1",
        "Lifecycle": "AVAILABLE",
        "CreationTime": datetime(2026, 11, 20, tzinfo=UTC),
        "StorageCapacity": 1200,
        "SubnetIds": ["subnet-1"],
        "Tags": [{"Key": CLUSTER_TAG, "Value": cluster}],
        **changes,
    }


def account(*systems: dict[str, Any]) -> dict[str, Any]:
    return {"fsx.describe_file_systems": {"FileSystems": list(systems)}}


def test_a_kept_file_system_is_a_warning_before_a_deployment_creates_an_empty_one() -> None:
    found = only(asked(kept_file_systems, account(file_system(), file_system("other"), file_system(Lifecycle="DELETING"))))
    assert found.outcome == "warning"
    assert found.message == (
        "an earlier deployment left fs-1: created 2026-11-20 00:00 UTC, 1200 GiB, in subnet-1; "
        "this one creates a new, empty file system"
    )
    assert found.fix.startswith("`./hpod retained draft` prints")


def test_file_systems_of_other_clusters_are_no_problem() -> None:
    assert outcomes(asked(kept_file_systems, account(file_system("other")))) == ["ok"]


def test_a_deployed_file_system_is_not_a_kept_one() -> None:
    deployed = {"cloudformation.describe_stacks": stacks(Storage={"FileSystemId": "fs-1"})}
    assert outcomes(asked(kept_file_systems, account(file_system()) | deployed)) == ["skipped"]


def test_a_file_that_uses_an_existing_file_system_needs_no_check() -> None:
    aws = FakeAws({})
    assert outcomes(asked(kept_file_systems, aws, IMPORTED)) == ["skipped"]
    assert aws.asked == []


def test_a_missing_permission_is_a_warning() -> None:
    assert outcomes(asked(kept_file_systems, {"fsx.describe_file_systems": DENIED})) == ["warning"]
