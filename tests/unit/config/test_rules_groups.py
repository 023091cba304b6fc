from typing import Any

import pytest

from config.rules.groups import is_accelerated


def test_two_controller_groups_are_named(draft: Any) -> None:
    draft.set("instance_groups", 1, "role", "controller")
    [line] = draft.lines()
    assert line.startswith('instance_groups: ["head", "door"]: exactly one group must have role \'controller\', and 2 have; ')


def test_a_cluster_can_do_without_a_login_group(draft: Any) -> None:
    assert draft.remove("instance_groups", 1).problems() == []


def test_a_compute_group_may_have_no_nodes(draft: Any) -> None:
    assert draft.set("instance_groups", 2, "instance_count", 0).problems() == []


def test_a_login_group_has_no_partition(draft: Any) -> None:
    draft.set("instance_groups", 1, "partition", "dev")
    assert draft.lines() == [
        "instance_groups[1].partition: \"dev\": a login group runs no jobs; remove it, or make the role 'compute'"
    ]


def test_the_reserved_word_of_slurm_is_no_partition(draft: Any) -> None:
    [line] = draft.set("instance_groups", 2, "partition", "Default").lines()
    assert "is a reserved word of slurm.conf" in line


def test_an_instance_type_is_a_partition_name(draft: Any) -> None:
    assert draft.set("instance_groups", 2, "partition", "ml.g5.48xlarge").problems() == []


@pytest.mark.parametrize(
    ("instance_type", "accelerated"),
    [
        ("ml.p5.48xlarge", True),
        ("ml.p4de.24xlarge", True),
        ("ml.p6e-gb200.36xlarge", True),
        ("ml.g5.xlarge", True),
        ("ml.g6e.xlarge", True),
        ("ml.trn1.32xlarge", True),
        ("ml.c5.xlarge", False),
        ("ml.m5.xlarge", False),
        ("ml.t3.medium", False),
        ("ml.r6i.xlarge", False),
    ],
)
def test_accelerated_types_are_known_by_their_family(instance_type: str, *, accelerated: bool) -> None:
    assert is_accelerated(instance_type) is accelerated


def test_each_deep_health_check_is_named_once(draft: Any) -> None:
    draft.set("wait_hours", 3)
    [line] = draft.set("instance_groups", 2, "deep_health_checks", ["InstanceStress", "InstanceStress"]).lines()
    assert "names a check twice" in line
