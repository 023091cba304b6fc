"""Rules about the partitions of Slurm."""

from typing import Any

import pytest

from config.errors import dotted
from tests.unit.validation.override_drafts import WORK

SETTINGS = {"AccountingStorageEnforce": "associations,limits,qos"}


def partitions(draft: Any, *entries: dict[str, Any]) -> Any:
    return draft.set("slurm", "partitions", list(entries))


def found(draft: Any) -> list[str]:
    return [f"{problem.rule} {dotted(problem.path)}" for problem in draft.problems()]


def test_limits_of_a_groups_partition_are_accepted(draft: Any) -> None:
    partitions(
        draft,
        {"name": "dev", "max_time": "1-00:00:00", "priority_tier": 10, "priority_job_factor": 5, "qos": "short", "state": "UP"},
    )
    assert draft.set("slurm", "settings", SETTINGS).lines() == []


def test_a_group_can_be_in_several_partitions(draft: Any) -> None:
    draft.set("instance_groups", WORK, "partition", "gpu")
    all_nodes = {"name": "urgent", "groups": ["work"], "default": True, "allow_accounts": ["vision"]}
    assert partitions(draft, {"name": "gpu"}, all_nodes, {"name": "dev", "state": "INACTIVE"}).lines() == []


@pytest.mark.parametrize("time", ["60", "90:00", "12:00:00", "1-0", "1-00:00", "7-23:59:59", "UNLIMITED", "INFINITE"])
def test_times_of_slurm_are_accepted(draft: Any, time: str) -> None:
    assert partitions(draft, {"name": "dev", "max_time": time}).lines() == []


@pytest.mark.parametrize(
    ("time", "better"),
    [("1d", "1-00:00:00"), ("2 days", "2-00:00:00"), ("12h", "12:00:00"), ("unlimited", "UNLIMITED"), ("1 week", None)],
)
def test_other_times_suggest_the_form_of_slurm(draft: Any, time: str, better: str | None) -> None:
    [line] = partitions(draft, {"name": "dev", "max_time": time}).lines()
    assert line.endswith(f"did you mean {better}?" if better else "; use e.g. 1-00:00:00")


@pytest.mark.parametrize(
    ("groups", "problem"),
    [
        (["wrok"], "unknown group; did you mean work?"),
        (["work", "head"], "a controller group runs no jobs; remove it"),
        (["work", "work"], "duplicate group; remove one"),
    ],
)
def test_groups_are_compute_groups(draft: Any, groups: list[str], problem: str) -> None:
    [line] = partitions(draft, {"name": "all", "groups": groups}).lines()
    assert line.endswith(problem)


def test_a_partition_without_groups_is_an_error(draft: Any) -> None:
    [line] = partitions(draft, {"name": "dve"}).lines()
    assert line == 'slurm.partitions[0].name: "dve": no group has this partition; add `groups`, or did you mean dev?'


@pytest.mark.parametrize("name", ["DEFAULT", "default"])
def test_the_name_default_is_reserved(draft: Any, name: str) -> None:
    assert found(partitions(draft, {"name": name, "groups": ["work"]})) == ["reserved-partition-name slurm.partitions[0].name"]


@pytest.mark.parametrize("given", [{"qos": "short"}, {"allow_accounts": ["vision"]}])
def test_accounts_and_qos_require_accounting(draft: Any, given: dict[str, Any]) -> None:
    draft.set("slurm", "accounting", {"database": "none"}).set("slurm", "settings", SETTINGS)
    [name] = given
    assert found(partitions(draft, {"name": "dev", **given})) == [f"partition-accounting slurm.partitions[0].{name}"]


@pytest.mark.parametrize("value", ["limits", "associations, Limits", "safe", "all", "qos"])
def test_a_qos_is_enforced_with_its_setting(draft: Any, value: str) -> None:
    partitions(draft, {"name": "dev", "qos": "short"})
    assert found(draft) == ["unenforced-qos slurm.partitions[0].qos"]
    assert draft.set("slurm", "settings", {"accountingstorageenforce": value}).lines() == []
