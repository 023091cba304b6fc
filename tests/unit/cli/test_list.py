"""`hpod list` shows cluster files beside what is deployed."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import NoCredentialsError

from cli.clusters import list_clusters
from cli.result import Result
from tests.cluster_files import REFERENCE

OURS = "123456789012"


class FakeStacks:
    """A session in an account with these stacks."""

    region_name = "us-west-2"

    def __init__(self, **statuses: str) -> None:
        self.statuses = {name.replace("_", "-"): status for name, status in statuses.items()}

    def client(self, _: str) -> "FakeStacks":
        return self

    def get_caller_identity(self) -> dict[str, str]:
        return {"Account": OURS}

    def get_paginator(self, _: str) -> "FakeStacks":
        return self

    def paginate(self) -> Iterator[dict[str, Any]]:
        outputs = [{"OutputKey": "ClusterName", "OutputValue": "x"}]
        for name, status in self.statuses.items():
            yield {"Stacks": [{"StackName": name, "StackStatus": status, "Outputs": outputs}]}


class NoAccess(FakeStacks):
    """A session without credentials."""

    def client(self, _: str) -> "FakeStacks":
        raise NoCredentialsError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "dev.yaml").write_text(REFERENCE.read_text())
    return tmp_path


def rows(result: Result) -> list[tuple[str, str, str]]:
    """Name, region and status of each cluster."""
    assert result.data
    return [(each["name"], each["region"], each["status"]) for each in result.data["clusters"]]


def listed(folder: Path, session: FakeStacks) -> Result:
    """What the command returns."""
    return list_clusters(clusters=folder, session=session)


def test_a_file_has_the_status_of_its_last_stack(folder: Path) -> None:
    assert rows(listed(folder, FakeStacks())) == [("dev", "us-west-2", "not deployed")]
    assert rows(listed(folder, FakeStacks(dev_Network="CREATE_COMPLETE"))) == [("dev", "us-west-2", "CREATE_COMPLETE")]
    both = FakeStacks(dev_Network="CREATE_COMPLETE", dev_Cluster="UPDATE_IN_PROGRESS")
    assert rows(listed(folder, both)) == [("dev", "us-west-2", "UPDATE_IN_PROGRESS")]


def test_a_cluster_without_a_file_is_listed(folder: Path) -> None:
    found = rows(listed(folder, FakeStacks(old_Cluster="CREATE_COMPLETE")))
    assert found[1] == ("old", "us-west-2", "CREATE_COMPLETE, without a cluster file")


def test_a_file_of_another_account_is_not_looked_up_in_this_one(folder: Path) -> None:
    (folder / "dev.yaml").write_text('account: "999999999999"\n' + REFERENCE.read_text())
    [(_, _, status)] = rows(listed(folder, FakeStacks(dev_Cluster="CREATE_COMPLETE")))
    assert status == f"in account 999999999999, your credentials are for {OURS}"


def test_an_invalid_file_does_not_hide_the_others(folder: Path) -> None:
    (folder / "bad.yaml").write_text("region: us-west-2\n")
    result = listed(folder, FakeStacks(dev_Cluster="CREATE_COMPLETE"))
    assert [status for _, _, status in rows(result)] == [
        f"invalid file; run `./hpod validate bad --clusters {folder}`",
        "CREATE_COMPLETE",
    ]
    assert {each["level"] for each in result.problems} == {"error"}


def test_without_credentials_the_files_are_listed_and_the_reason_is_given(folder: Path) -> None:
    result = listed(folder, NoAccess())
    assert rows(result) == [("dev", "us-west-2", "unknown")]
    assert "Unable to locate credentials" in str(result)
    assert (result.problems[0]["level"], result.failure) == ("warning", "")
