"""One mistake is one problem: consequences are not reported."""

from typing import Any

import pytest

from validation.checked_file import check_source
from validation.load import parse_cluster


@pytest.mark.parametrize(
    ("group", "role", "said"),
    [
        (0, "compute", "got 0; check the role of head, which contradicts its partition"),
        (0, "login", "got 0; set `role: controller` on the group that runs slurmctld"),
        (1, "controller", "got 2; set `role: controller` on the group that runs slurmctld"),
        (1, "compute", "compute group door requires a partition; add e.g. `partition: dev`"),
        (2, "controller", "got 2; check the role of work, which contradicts its partition"),
        (2, "login", "got 2; check the role of work, which contradicts its partition"),
    ],
)
def test_a_wrong_role_is_reported_once(draft: Any, group: int, role: str, said: str) -> None:
    [line] = draft.set("instance_groups", group, "role", role).lines()
    assert line.endswith(said)


@pytest.mark.parametrize(
    ("first", "again"),
    [
        ("region: us-wset-2", "region: us-west-2"),
        ("network: {vpc_cidr: 10.0.0.0/16}", "network: {availability_zone_id: usw2-az4}"),
        ("storage:", "storage: {}"),
        ("instance_groups: []", "instance_groups: []"),
        ("wait_hours: 99", "wait_hours: 1"),
        ("network: {availability_zone_id: usw2-az99, availability_zone_id: usw2-az4}", ""),
        ("instance_groups: [{name: a, role: login, role: controller, instance_type: ml.c5.xlarge, instance_count: 1}]", ""),
    ],
)
def test_a_duplicate_key_is_the_only_problem_of_its_section(draft: Any, first: str, again: str) -> None:
    rest = draft.text().decode()
    section = first.partition(":")[0]
    if section != "wait_hours":
        draft.remove(section)
        rest = draft.text().decode()
    parsed = parse_cluster(f"{first}\n{again}\n{rest}".encode(), "draft")
    assert isinstance(parsed, list)
    [line] = map(str, parsed)
    assert "duplicate key" in line


def test_other_problems_are_reported_beside_a_duplicate_key(draft: Any) -> None:
    draft.set("wait_hours", 99)
    parsed = parse_cluster(draft.text() + b"region: us-east-1\n", "draft")
    assert isinstance(parsed, list)
    assert [problem.path for problem in parsed] == [("wait_hours",), ("region",)]


def test_the_request_of_the_valid_part_is_checked(draft: Any) -> None:
    draft.set("instance_groups", 0, "role", "boss").set("instance_groups", 2, "overrides", {"Nmae": 1})
    draft.set("instance_groups", 1, "instance_type", "ml.m5.xxlarge").set("network", {}).set(
        "overrides", {"NodeRecovery": "Maybe"}
    )
    assert [(problem.rule, problem.path) for problem in draft.problems()] == [
        ("missing-field", ("network", "availability_zone_id")),
        ("choice", ("instance_groups", 0, "role")),
        ("request.choice", ("instance_groups", 1, "instance_type")),
        ("request.unknown-member", ("instance_groups", 2, "overrides", "Nmae")),
        ("choice", ("overrides", "NodeRecovery")),
    ]


@pytest.mark.parametrize("count", [0, 101])
def test_a_wrong_number_of_groups_is_reported_once(draft: Any, count: int) -> None:
    group = draft.content["instance_groups"][2]
    [problem] = draft.set("instance_groups", [{**group, "name": f"work-{index}"} for index in range(count)]).problems()
    assert (problem.rule, problem.path) == ("bounds", ("instance_groups",))


def test_a_wrong_file_name_hides_nothing(draft: Any) -> None:
    draft.set("overrides", {"NodeRecovery": "Maybe"})
    checked = check_source(draft.text(), "No Name", draft.folder)
    assert [problem.rule for problem in checked.problems] == ["file.name", "choice"]


@pytest.mark.parametrize("given", [[{"extra": "x"}], [], "x", 3, None, {"x": 1}])
@pytest.mark.parametrize("field", ["network", "storage", "slurm", "lifecycle", "instance_groups", "users"])
def test_a_section_of_another_type_is_reported_without_traceback(draft: Any, field: str, given: object) -> None:
    problems = draft.set(field, given).problems()
    assert all(problem.path[0] == field for problem in problems)
