from typing import Any

import pytest

from config.errors import Level


@pytest.mark.parametrize("capacity", [1200, 2400, 4800, 240000])
def test_supported_capacities_are_accepted(draft: Any, capacity: int) -> None:
    assert draft.set("storage", "lustre", "storage_capacity_gib", capacity).problems() == []


@pytest.mark.parametrize(
    ("deployment_type", "throughput"),
    [("PERSISTENT_1", 50), ("PERSISTENT_1", 100), ("PERSISTENT_1", 200), ("PERSISTENT_2", 125), ("PERSISTENT_2", 1000)],
)
def test_each_deployment_type_has_its_throughputs(draft: Any, deployment_type: str, throughput: int) -> None:
    draft.set("storage", "lustre", {"deployment_type": deployment_type, "throughput_mbps_per_tib": throughput})
    assert draft.problems() == []


@pytest.mark.parametrize("version", ["2.12", "2.15"])
@pytest.mark.parametrize(("deployment_type", "throughput"), [("PERSISTENT_1", 100), ("PERSISTENT_2", 125)])
def test_newer_versions_run_on_both_types(draft: Any, version: str, deployment_type: str, throughput: int) -> None:
    lustre = {"version": version, "deployment_type": deployment_type, "throughput_mbps_per_tib": throughput}
    assert draft.set("storage", "lustre", lustre).problems() == []


def test_lustre_2_10_runs_on_persistent_1_without_associations(draft: Any) -> None:
    draft.set("storage", "lustre", {"version": "2.10", "deployment_type": "PERSISTENT_1", "throughput_mbps_per_tib": 100})
    assert [problem.rule for problem in draft.problems()] == ["lustre-version"]
    assert draft.remove("storage", "data_repository_associations").problems() == []


@pytest.mark.parametrize(
    ("path", "other", "apart"),
    [("/data", "/data2", True), ("/data", "/data", False), ("/a/b", "/a", False), ("/", "/x", False), ("/a/b", "/a/c", True)],
)
def test_directories_of_associations_lie_beside_each_other(draft: Any, path: str, other: str, *, apart: bool) -> None:
    draft.set("storage", "data_repository_associations", [{"path": path}, {"path": other, "bucket": "another"}])
    assert (draft.problems() == []) is apart


@pytest.mark.parametrize(
    ("prefix", "other", "expected"),
    [
        ("a", "b", []),
        ("a", "ab", []),
        ("", "b", [("overlapping-association-prefixes", Level.WARNING)]),
        ("a", "a/b", [("overlapping-association-prefixes", Level.WARNING)]),
        ("a", "a", [("duplicate-association-prefix", Level.ERROR)]),
        ("", "", [("duplicate-association-prefix", Level.ERROR)]),
    ],
)
def test_prefixes_in_one_bucket_lie_beside_each_other(
    draft: Any, prefix: str, other: str, expected: list[tuple[str, Level]]
) -> None:
    associations = [{"path": "/one", "prefix": prefix}, {"path": "/two", "prefix": other}]
    draft.set("storage", "data_repository_associations", associations)
    assert [(problem.rule, problem.level) for problem in draft.problems()] == expected


@pytest.mark.parametrize("path", ["/c d", "/d+e", "/run=1/æ", "/a/b.c"])
def test_a_directory_can_have_any_name_that_fsx_supports(draft: Any, path: str) -> None:
    assert draft.set("storage", "data_repository_associations", 0, "path", path).problems() == []


def test_a_cluster_can_do_without_a_file_system(draft: Any) -> None:
    assert draft.remove("storage").problems() == []


def test_an_existing_file_system_can_have_associations(draft: Any) -> None:
    draft.remove("storage", "lustre").set("storage", "existing", {"file_system_id": "fs-01234567", "mount_name": "fsx"})
    assert draft.problems() == []


@pytest.mark.parametrize(("path", "meant"), [("/fsx/data", "/data"), ("/fsx", "/")])
def test_a_directory_below_the_mount_point_suggests_the_one_without_it(draft: Any, path: str, meant: str) -> None:
    [line] = draft.set("storage", "data_repository_associations", 0, "path", path).lines()
    assert line.endswith(f"did you mean {meant}?")


@pytest.mark.parametrize(("path", "covers"), [("/", True), ("/home", True), ("/home/alice", True), ("/homes", False)])
def test_homes_are_not_copied_to_a_bucket_unasked(draft: Any, path: str, *, covers: bool) -> None:
    draft.set("storage", "data_repository_associations", 0, "path", path)
    assert [problem.rule for problem in draft.problems()] == ["association-covers-home"] * covers
    draft.set("storage", "openzfs", "dns_name", "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com")
    assert draft.problems() == []


@pytest.mark.parametrize(
    ("path", "covers"), [("/", True), ("/alice", True), ("/alice/data", True), ("/ubuntu", True), ("/data", False)]
)
def test_homes_directly_in_fsx_are_not_copied_to_a_bucket_unasked(draft: Any, path: str, *, covers: bool) -> None:
    draft.set("storage", "homes", "/fsx").set("users", [{"name": "alice", "uid": 10001}])
    draft.set("storage", "data_repository_associations", 0, "path", path)
    assert [problem.rule for problem in draft.problems()] == ["association-covers-home"] * covers


@pytest.mark.parametrize(("folder", "valid"), [("/fsx", True), ("/fsx/a/b", True), ("/home", False), ("/fsx/../etc", False)])
def test_homes_are_on_the_file_system(draft: Any, folder: str, *, valid: bool) -> None:
    assert (draft.set("storage", "homes", folder).problems() == []) == valid


def test_a_link_that_copies_nothing_covers_nothing(draft: Any) -> None:
    link = {"path": "/home", "import_metadata_on_create": False, "auto_import": [], "auto_export": []}
    assert draft.set("storage", "data_repository_associations", 0, link).problems() == []


@pytest.mark.parametrize(("folder", "covered"), [("/fsx/data/slurm", True), ("/fsx/database", False), ("/fsx/slurm", False)])
def test_the_state_of_slurm_is_not_copied_to_a_bucket(draft: Any, folder: str, *, covered: bool) -> None:
    draft.set("slurm", {"setup": "scripts", "state_folder": folder, "accounting": {"database": "none"}})
    assert [problem.rule for problem in draft.problems()] == ["association-covers-slurm-state"] * covered


@pytest.mark.parametrize(
    ("bucket", "is_elsewhere"),
    [("data-us-east-1", True), ("us-east-1.data", True), ("data-us-west-2", False), ("data-us-east-12", False), ("ours", False)],
)
def test_a_bucket_named_after_another_region_is_a_warning(draft: Any, bucket: str, *, is_elsewhere: bool) -> None:
    draft.set("storage", "data_repository_associations", 0, "bucket", bucket)
    assert [problem.rule for problem in draft.problems()] == ["bucket-region"] * is_elsewhere
    draft.set("storage", "data_repository_associations", 0, {"path": "/data"}).set("storage", "data_bucket", "existing", bucket)
    assert [problem.rule for problem in draft.problems()] == ["bucket-region"] * is_elsewhere


def test_exports_may_go_to_another_region(draft: Any) -> None:
    link = {"path": "/data", "bucket": "data-us-east-1", "import_metadata_on_create": False, "auto_import": []}
    assert draft.set("storage", "data_repository_associations", 0, link).problems() == []


@pytest.mark.parametrize("suffix", ["us-west-2.amazonaws.com", "cn-north-1.amazonaws.com.cn", "eusc-de-east-1.amazonaws.eu"])
def test_a_file_system_for_homes_has_the_domain_of_its_partition(draft: Any, suffix: str) -> None:
    draft.remove("region").set("storage", "openzfs", {"dns_name": f"fs-01234567.fsx.{suffix}"})
    assert draft.problems() == []


def test_an_existing_bucket_with_retain_is_valid(draft: Any) -> None:
    assert draft.set("storage", "data_bucket", {"existing": "ours", "removal": "retain"}).problems() == []


def test_an_existing_data_bucket_may_be_for_nodes_only(draft: Any) -> None:
    draft.remove("storage", "data_repository_associations").set("slurm", "metadata_access", "all")
    assert draft.set("storage", "data_bucket", {"existing": "ours", "node_access": "read"}).problems() == []
