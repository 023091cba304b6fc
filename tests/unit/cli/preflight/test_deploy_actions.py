"""The table of actions against the templates and against AWS's registry schemas."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from cfnlint.schema.manager import PROVIDER_SCHEMA_MANAGER

from cli.preflight import deploy_actions
from cli.preflight.deploy_actions import Actions
from cli.snapshot.readable import BOILERPLATE

SNAPSHOTS = Path(__file__).parents[4] / "tests" / "snapshots"
# The templates' functions, parameters and custom resources are no types.
TABLES: list[Actions] = [each for name, each in vars(deploy_actions).items() if name.isupper() and name != "TEMPLATE"]
# Its schema lists no actions; the module says where they are from.
WITHOUT_LIST = "AWS::FSx::FileSystem"
# Parts that no committed template has: notifications.
NOT_IN_SNAPSHOTS = {
    "AWS::Chatbot::MicrosoftTeamsChannelConfiguration",
    "AWS::Chatbot::SlackChannelConfiguration",
    "AWS::SNS::Subscription",
}


def made() -> Iterator[str]:
    """Every type of AWS's that is in a committed template."""
    for file in SNAPSHOTS.rglob("*.template.yaml"):
        yield from re.findall(r"^ +Type: (AWS::\w+::\w+)$", file.read_text(), re.MULTILINE)


def test_the_table_has_the_types_that_the_templates_make_and_no_others() -> None:
    types = set(made())
    assert len(types) > 20
    assert types | NOT_IN_SNAPSHOTS == {kind for table in TABLES for kind in table}


def test_every_other_part_that_needs_an_action_is_in_a_template() -> None:
    text = "\n".join([str(BOILERPLATE), *(file.read_text() for file in SNAPSHOTS.rglob("*.template.yaml"))])
    named = [part.removeprefix("Fn::") for part in deploy_actions.TEMPLATE]
    assert [part for part in named if part not in text] == []


@pytest.mark.parametrize("kind", sorted({kind for table in TABLES for kind in table} - {WITHOUT_LIST}))
def test_every_action_is_one_of_the_types_handlers(kind: str) -> None:
    handlers = PROVIDER_SCHEMA_MANAGER.get_resource_schema("us-east-1", kind).schema["handlers"]
    known = {action for name in ("create", "update") for action in handlers.get(name, {}).get("permissions", [])}
    assert {action for table in TABLES for action in table.get(kind, ())} <= known
