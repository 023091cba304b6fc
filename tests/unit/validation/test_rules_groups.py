from typing import Any

import pytest

from config import tags


def test_a_cluster_can_do_without_a_login_group(draft: Any) -> None:
    assert draft.remove("instance_groups", 1).problems() == []


def test_a_compute_group_may_have_no_nodes(draft: Any) -> None:
    assert draft.set("instance_groups", 2, "instance_count", 0).problems() == []


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ((0, 1, 4), ["empty-controller-group"]),
        ((1, 0, 4), ["empty-login-group"]),
        ((0, 0, 0), ["empty-login-group"]),
        ((1, 1, 0), []),
    ],
)
def test_nodes_need_a_controller_and_a_parked_cluster_needs_none(
    draft: Any, counts: tuple[int, ...], expected: list[str]
) -> None:
    for index, count in enumerate(counts):
        draft.set("instance_groups", index, "instance_count", count)
    assert [problem.rule for problem in draft.problems()] == expected


def test_a_partition_cannot_be_called_default(draft: Any) -> None:
    [line] = draft.set("instance_groups", 2, "partition", "Default").lines()
    assert "reserved by slurm.conf" in line


def test_an_instance_type_is_a_partition_name(draft: Any) -> None:
    assert draft.set("instance_groups", 2, "partition", "ml.g5.48xlarge").problems() == []


def test_deep_health_checks_need_accelerators_in_every_type_of_the_group(draft: Any) -> None:
    draft.set("wait_hours", 3).set("instance_groups", 2, "deep_health_checks", ["InstanceStress"])
    assert draft.problems() == []
    types = {"InstanceTypes": ["ml.p5.48xlarge", "ml.c5.xlarge"]}
    draft.set("instance_groups", 2, "overrides", {"InstanceType": None, "InstanceRequirements": types})
    assert 'instance_groups[2].deep_health_checks: ["InstanceStress"]: ml.c5.xlarge has no accelerators; remove the checks' in (
        draft.lines()
    )


def test_the_most_tags_of_a_file_leave_room_for_ours_and_for_names(draft: Any) -> None:
    """AWS allows 50 tags for a resource, without those that CloudFormation adds."""
    ours = [name for name in vars(tags) if name.endswith("_TAG")]
    draft.set("tags", {f"tag-{index}": "x" for index in range(40)})
    assert draft.problems() == []
    assert ours
    assert 40 + len(ours) + len(["Name"]) <= 50
    draft.set("tags", {f"tag-{index}": "x" for index in range(41)})
    assert [problem.rule for problem in draft.problems()] == ["bounds"]
