"""Warnings do not prevent a deployment, and a file can suppress them with a reason."""

from typing import Any

import pytest

from config.errors import Level, Problem
from config.model import ClusterConfig
from validation.checked_file import check_source
from validation.rules import RULES

WARNINGS = [rule.id for rule in RULES.values() if rule.level is Level.WARNING]


def suppress(*rules: str) -> list[dict[str, str]]:
    return [{"rule": rule, "reason": "a cluster to try things on"} for rule in rules]


def seen(draft: Any) -> list[tuple[str, str, str | None]]:
    found: list[Problem] = draft.problems()
    return [(problem.rule, problem.level, problem.suppressed) for problem in found]


def test_a_file_with_warnings_is_a_cluster(draft: Any) -> None:
    draft.set("storage", "lustre", "removal", "destroy").set("trust_source_account", True)
    assert isinstance(draft.parsed(), ClusterConfig)
    checked = check_source(draft.text(), "draft", draft.folder)
    assert checked.errors == []
    assert [str(problem) for problem in checked.warnings] == [
        'storage.lustre.removal: "destroy": `cdk destroy` deletes all its data; set `retain`, or suppress this warning',
        "trust_source_account: true: not confirmed to work with HyperPod; test it on a small cluster, then suppress this warning",
    ]


def test_a_suppressed_warning_has_its_reason_and_others_are_reported(draft: Any) -> None:
    draft.set("storage", "lustre", "removal", "destroy").set("trust_source_account", True)
    draft.set("suppress", suppress("untested-trust-policy"))
    assert seen(draft) == [
        ("data-deletion", "warning", None),
        ("untested-trust-policy", "warning", "a cluster to try things on"),
    ]
    assert [problem.rule for problem in check_source(draft.text(), "draft", draft.folder).warnings] == ["data-deletion"]


def test_a_suppression_applies_to_every_problem_of_the_rule(draft: Any) -> None:
    draft.set("users", [{"name": "eve", "uid": 2001}, {"name": "bob", "uid": 2002}]).set("suppress", suppress("uid-range"))
    assert [reason for _, _, reason in seen(draft)] == ["a cluster to try things on"] * 2


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        (["tried-trust-polcy"], 'suppress[0].rule: "tried-trust-polcy": unknown rule; did you mean untested-trust-policy?'),
        (
            ["zone-region"],
            'suppress[0].rule: "zone-region": only warnings can be suppressed; remove it',
        ),
        (["type"], 'suppress[0].rule: "type": only warnings can be suppressed; remove it'),
        (
            ["suppress.unused"],
            'suppress[0].rule: "suppress.unused": only warnings can be suppressed; remove it',
        ),
        (
            ["untested-trust-policy", "untested-trust-policy"],
            'suppress[1].rule: "untested-trust-policy": already suppressed above; keep only one',
        ),
    ],
)
def test_a_wrong_suppression_is_an_error(draft: Any, rules: list[str], said: str) -> None:
    draft.set("trust_source_account", True).set("suppress", suppress(*rules))
    assert said in [str(problem) for problem in draft.parsed()]


def test_nothing_is_called_unused_while_an_error_may_hide_it(draft: Any) -> None:
    draft.set("suppress", suppress("untested-trust-policy")).set("trust_source_account", "perhaps")
    assert [rule for rule, _, _ in seen(draft)] == ["type"]


@pytest.mark.parametrize("reason", ["", "   ", None, "x" * 501])
def test_a_reason_is_a_text(draft: Any, reason: str | None) -> None:
    draft.set("trust_source_account", True).set("suppress", [{"rule": "untested-trust-policy", "reason": reason}])
    assert [problem.path for problem in draft.parsed()] == [("suppress", 0, "reason")]


@pytest.mark.parametrize("wait", [{"wait_hours": 3}, {"wait": "none"}])
def test_a_deployment_that_waits_for_deep_health_checks_or_not_at_all_is_not_warned_of(draft: Any, wait: dict[str, Any]) -> None:
    draft.set("instance_groups", 2, "deep_health_checks", ["InstanceStress"])
    [problem] = draft.problems()
    assert str(problem) == "wait_hours: 1: deep health checks of work can take longer; set 3, or `wait: none`"
    for name, value in wait.items():
        draft.set(name, value)
    assert draft.problems() == []


def test_there_are_warnings() -> None:
    assert len(WARNINGS) >= 3
