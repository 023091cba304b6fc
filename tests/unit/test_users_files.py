"""No test depends on the files in clusters/, which belong to the user."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cluster_files import PROJECT, REFERENCE, USERS
from tests.users_files import UsersFileError
from validation.load import load_cluster, load_clusters


@pytest.mark.parametrize(
    "read",
    [
        lambda: load_clusters(USERS),
        lambda: load_cluster(USERS / "reference.yaml"),
        (USERS / "no-such-file.yaml").read_text,
        lambda: list(USERS.glob("*.yaml")),
        lambda: os.listdir(USERS),  # noqa: PTH208 - one of the ways
        lambda: open(os.fsencode(USERS / "reference.yaml")).close(),  # noqa: PTH123 - one of the ways
    ],
)
def test_a_test_that_reads_a_file_of_the_users_fails_with_its_name(read: Callable[[], object]) -> None:
    with pytest.raises(UsersFileError, match=r"test_users_files\.py::test_a_test_that_reads.* reads .*/clusters"):
        read()


def test_a_path_from_the_checkout_is_seen_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(PROJECT)
    with pytest.raises(UsersFileError):
        load_clusters(Path("clusters"))


def test_the_fixture_and_another_folder_of_that_name_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "clusters").mkdir()
    (tmp_path / "clusters" / "mine.yaml").write_text(REFERENCE.read_text())
    assert [config.name for config in load_clusters(tmp_path / "clusters")] == ["mine"]
