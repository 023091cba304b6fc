"""Every rule has an id, a requirement and a reason."""

import re
from pathlib import Path

import pytest

from config.errors import Level
from validation.catalog import BASIC, catalog
from validation.model_errors import RULE_OF
from validation.rules import RULES

PROJECT = Path(__file__).parents[3]
FOLDERS = ("config", "cluster_request", "validation", "validation/yaml")


@pytest.mark.parametrize("rule", catalog())
def test_a_rule_has_a_requirement_and_a_reason(rule: str) -> None:
    entry = catalog()[rule]
    for text in (entry.says, entry.why):
        assert text.endswith(".")
        assert "\n" not in text


@pytest.mark.parametrize("rule", catalog())
def test_an_id_is_short_words_with_hyphens(rule: str) -> None:
    assert re.fullmatch(r"((file|yaml|request|suppress)\.)?[a-z]+(-[a-z]+)*", rule)


def test_no_id_is_there_twice() -> None:
    assert not set(BASIC) & set(RULES)


def test_every_id_in_the_code_is_in_the_catalog_and_the_other_way_round() -> None:
    modules = [path for folder in FOLDERS for path in (PROJECT / folder).glob("*.py")]
    code = "".join(path.read_text() for path in modules if path.name != "catalog.py")
    dotted = set(re.findall(r'"((?:file|yaml|request|suppress)\.[a-z-]+)"', code))
    assert dotted == {rule for rule in BASIC if "." in rule}
    assert {rule for rule in BASIC if "." not in rule} == {*RULE_OF.values(), "type"}


def test_rules_for_single_fields_and_the_request_are_errors() -> None:
    assert {rule for rule, entry in BASIC.items() if entry.level is not Level.ERROR} == {"suppress.unused"}
