"""Which way of HyperPod's agent is chosen, and what each does to the files that nodes have."""

from dataclasses import fields
from pathlib import Path

import pytest

from local_aws.builds.errors import HostError
from local_aws.nodes.agent.behaviour import Behaviour

FIDELITY = (Path(__file__).parents[4] / "docs" / "internals" / "fidelity.md").read_text()


def test_fields_that_are_left_out_keep_the_worst_case() -> None:
    assert Behaviour.parse("") == Behaviour()
    read = Behaviour.parse("node_lines=before_scripts, placeholder_s=0.5")
    assert (read.node_lines, read.placeholder_s, read.script_mounts) == ("before_scripts", 0.5, "slave")


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("lines=late", "unknown field 'lines'; available: script_mounts, node_lines, "),
        ("node_lines=late", "unknown node_lines 'late'; available: after_scripts, before_scripts"),
        ("placeholder_s=soon", "placeholder_s must be a number of seconds, got 'soon'"),
    ],
)
def test_what_cannot_be_read_is_named_with_what_can(text: str, error: str) -> None:
    with pytest.raises(HostError, match=f"HYPERPOD_AGENT: {error}"):
        Behaviour.parse(text)


@pytest.mark.parametrize("field", [field.name for field in fields(Behaviour)])
def test_each_field_is_described(field: str) -> None:
    assert f"| `{field}` |" in FIDELITY
