"""Slurm's states and the time spans of waits."""

import pytest

from cli.node_actions.patience import Patience
from cli.node_actions.slurm import slurm_host


@pytest.mark.parametrize(
    ("state", "is_up", "is_drained"),
    [
        ("idle", True, False),
        *((f"mixed{suffix}", True, False) for suffix in "$^-+@!"),
        *((f"idle{suffix}", False, False) for suffix in "~#%"),  # powered down, up and being powered down: no slurmd
        ("drained~", False, True),
        ("drained$", True, True),
        ("idle*", False, False),
        ("drained*", False, True),
        ("down", False, False),
        ("down$", False, False),
    ],
)
def test_suffixes_of_states_are_ignored_except_those_of_nodes_that_do_not_respond(
    state: str, is_up: bool, is_drained: bool
) -> None:
    node = slurm_host("ip-10-1-0-9", state, "root", "none")
    assert (node.is_up, node.is_drained) == (is_up, is_drained)


@pytest.mark.parametrize(
    ("seconds", "span"),
    [(24, "24 seconds"), (90, "90 seconds"), (60, "1 minute"), (5400, "90 minutes"), (3600, "1 hour"), (10800, "3 hours")],
)
def test_a_span_has_the_unit_that_divides_it(seconds: float, span: str) -> None:
    assert Patience(seconds).span == span
