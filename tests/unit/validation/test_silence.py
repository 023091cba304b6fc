"""Warnings keep nobody from deploying, and a file can silence one with a reason."""

from typing import Any

import pytest

from config.errors import Level, Problem
from config.model import ClusterConfig
from validation.checked_file import check_source
from validation.rules import RULES

WARNINGS = [rule.id for rule in RULES.values() if rule.level is Level.WARNING]


def silence(*rules: str) -> list[dict[str, str]]:
    return [{"rule": rule, "reason": "a cluster to try things on"} for rule in rules]


def seen(draft: Any) -> list[tuple[str, str, str | None]]:
    found: list[Problem] = draft.problems()
    return [(problem.rule, problem.level, problem.silenced) for problem in found]


def test_a_file_with_warnings_is_a_cluster(draft: Any) -> None:
    draft.set("storage", "lustre", "removal", "destroy").set("trust_source_account", True)
    assert isinstance(draft.parsed(), ClusterConfig)
    checked = check_source(draft.text(), "draft", draft.folder)
    assert checked.errors == []
    assert [str(problem) for problem in checked.warnings] == [
        'storage.lustre.removal: "destroy": '
        "`cdk destroy` deletes all that is in it; set `retain`, or silence this with the reason",
        "trust_source_account: true: is not known to work; try it on a small cluster, then silence this",
    ]


def test_a_silenced_warning_carries_its_reason_and_the_others_are_told(draft: Any) -> None:
    draft.set("storage", "lustre", "removal", "destroy").set("trust_source_account", True)
    draft.set("silence", silence("tried-trust-policy"))
    assert seen(draft) == [
        ("data-outlives-the-stack", "warning", None),
        ("tried-trust-policy", "warning", "a cluster to try things on"),
    ]
    assert [problem.rule for problem in check_source(draft.text(), "draft", draft.folder).warnings] == ["data-outlives-the-stack"]


def test_all_of_a_rule_is_silenced_at_once(draft: Any) -> None:
    draft.set("users", [{"name": "eve", "uid": 2001}, {"name": "bob", "uid": 2002}]).set("silence", silence("numbers-of-people"))
    assert [reason for _, _, reason in seen(draft)] == ["a cluster to try things on"] * 2


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        (["tried-trust-polcy"], 'silence[0].rule: "tried-trust-polcy": is no rule; did you mean tried-trust-policy?'),
        (
            ["zone-of-the-region"],
            'silence[0].rule: "zone-of-the-region": is not a warning, and nothing else can be silenced; remove it',
        ),
        (["type"], 'silence[0].rule: "type": is not a warning, and nothing else can be silenced; remove it'),
        (["silence.unused"], 'silence[0].rule: "silence.unused": is not a warning, and nothing else can be silenced; remove it'),
        (
            ["tried-trust-policy", "tried-trust-policy"],
            'silence[1].rule: "tried-trust-policy": is silenced above; keep one of the reasons',
        ),
    ],
)
def test_what_cannot_be_silenced_is_an_error(draft: Any, rules: list[str], said: str) -> None:
    draft.set("trust_source_account", True).set("silence", silence(*rules))
    assert said in [str(problem) for problem in draft.parsed()]


def test_a_warning_that_is_silenced_and_not_given_is_a_note(draft: Any) -> None:
    draft.set("silence", silence("tried-trust-policy"))
    assert draft.lines() == ['silence[0].rule: "tried-trust-policy": this file gives no such warning; remove it']
    assert seen(draft) == [("silence.unused", "info", None)]
    assert isinstance(draft.parsed(), ClusterConfig)


def test_nothing_is_called_unused_while_an_error_may_hide_it(draft: Any) -> None:
    draft.set("silence", silence("tried-trust-policy")).set("trust_source_account", "perhaps")
    assert [rule for rule, _, _ in seen(draft)] == ["type"]


@pytest.mark.parametrize("reason", ["", "   ", None, "x" * 501])
def test_a_reason_is_a_text(draft: Any, reason: str | None) -> None:
    draft.set("trust_source_account", True).set("silence", [{"rule": "tried-trust-policy", "reason": reason}])
    assert [problem.path for problem in draft.parsed()] == [("silence", 0, "reason")]


@pytest.mark.parametrize("wait", [{"wait_hours": 3}, {"wait": "none"}])
def test_a_deployment_that_waits_for_deep_health_checks_or_not_at_all_is_not_warned_of(draft: Any, wait: dict[str, Any]) -> None:
    draft.set("instance_groups", 2, "deep_health_checks", ["InstanceStress"])
    [problem] = draft.problems()
    assert str(problem) == "wait_hours: 1: the checks of work can take longer; set 3, or `wait: none`"
    for name, value in wait.items():
        draft.set(name, value)
    assert draft.problems() == []


def test_there_are_warnings() -> None:
    assert len(WARNINGS) >= 3
