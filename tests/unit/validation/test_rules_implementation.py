from typing import Any

import pytest

TOPIC = "arn:aws:sns:us-west-2:123456789012:trouble"


def of_one_rule(draft: Any) -> tuple[str, list[str]]:
    """The only rule that is broken, and the fields that break it."""
    problems = draft.problems()
    [rule] = {problem.rule for problem in problems}
    return rule, [".".join(map(str, problem.path)) for problem in problems]


@pytest.mark.parametrize("part", ["lustre", "data_bucket"])
def test_a_cluster_that_stays_keeps_where_its_data_is(draft: Any, part: str) -> None:
    draft.set("removal", "retain").set("storage", part, "removal", "destroy")
    assert of_one_rule(draft) == ("retain-storage", [f"storage.{part}.removal"])


def test_a_cluster_that_stays_says_nothing_of_a_bucket_that_is_not_made(draft: Any) -> None:
    draft.set("removal", "retain").set("storage", "data_bucket", "removal", "destroy")
    assert draft.remove("storage", "data_repository_associations").problems() == []


@pytest.mark.parametrize(
    ("field", "value"), [("wait", "none"), ("wait_hours", 2), ("recreate", True), ("alarm_topic_arn", TOPIC)]
)
def test_what_the_native_type_lacks_is_refused_beside_it(draft: Any, field: str, value: object) -> None:
    assert draft.set(field, value).problems() == []
    assert of_one_rule(draft.set("implementation", "native")) == ("custom-resource-options", [field])


def test_a_cluster_that_is_to_be_adopted_is_never_made_anew(draft: Any) -> None:
    draft.set("adopt", True).set("cluster_name", "theirs").set("removal", "retain")
    assert draft.problems() == []
    assert of_one_rule(draft.set("recreate", True)) == ("adopt-or-recreate", ["recreate"])
