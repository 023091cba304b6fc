"""Rules run on what is valid; tests/corpus has a file that breaks each."""

from typing import Any

import pytest

from validation.rules import RULES


def test_the_drafts_of_other_tests_break_no_rule(draft: Any, eks_draft: Any) -> None:
    assert draft.lines() == []
    assert eks_draft.lines() == []


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_each_rule_has_a_requirement_of_one_line(rule: Any) -> None:
    assert rule.says
    assert "\n" not in rule.says


def test_rules_of_valid_sections_speak_although_another_section_is_invalid(draft: Any) -> None:
    draft.set("instance_groups", 0, "role", "boss")
    draft.set("network", "node_cidr", "10.0.128.0/17")
    draft.set("storage", "lustre", "storage_capacity_gib", 1300)
    assert {str(problem.path[0]) for problem in draft.problems()} == {"instance_groups", "network", "storage"}


def test_a_rule_that_needs_an_invalid_section_is_skipped(draft: Any) -> None:
    draft.set("region", 7)
    assert [problem.path for problem in draft.problems()] == [("region",)]
