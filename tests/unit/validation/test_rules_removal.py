from typing import Any

import pytest

from tests.unit.validation.override_drafts import ROLE

NETWORK = {
    "vpc_id": "vpc-0123456789abcdef0",
    "node_subnet_ids": ["subnet-0123456789abcdef0"],
    "security_group_id": "sg-0123456789abcdef0",
}
TOPIC = "arn:aws:sns:us-west-2:123456789012:trouble"


def of_one_rule(draft: Any) -> tuple[str, list[str]]:
    """Return the only broken rule, and the fields that break it."""
    problems = draft.problems()
    [rule] = {problem.rule for problem in problems}
    return rule, [".".join(map(str, problem.path)) for problem in problems]


@pytest.mark.parametrize("part", ["lustre", "data_bucket"])
def test_a_cluster_that_stays_keeps_where_its_data_is(draft: Any, part: str) -> None:
    draft.set("removal", "retain").set("storage", part, "removal", "destroy")
    assert of_one_rule(draft) == ("retain-storage", [f"storage.{part}.removal"])


def test_retain_ignores_a_bucket_that_is_not_created(draft: Any) -> None:
    draft.set("removal", "retain").set("storage", "data_bucket", "removal", "destroy")
    assert draft.remove("storage", "data_repository_associations").problems() == []


def test_adopt_and_recreate_exclude_each_other(draft: Any) -> None:
    draft.set("adopt", True).set("cluster_name", "theirs").set("removal", "retain")
    assert draft.problems() == []
    assert of_one_rule(draft.set("recreate", True)) == ("adopt-or-recreate", ["recreate"])


@pytest.mark.parametrize("given", [{"execution_role": ROLE}, {"overrides": {"ExecutionRole": ROLE}}])
def test_adoption_accepts_a_role_in_a_field_and_in_an_override(draft: Any, given: dict[str, Any]) -> None:
    draft.set("adopt", True).set("cluster_name", "theirs").set("network", "existing", NETWORK)
    assert {problem.path[-1] for problem in draft.problems()} == {"execution_role"}
    for index in range(3):
        for name, value in given.items():
            draft.set("instance_groups", index, name, value)
    assert draft.set("slurm", "metadata_access", "all").problems() == []
