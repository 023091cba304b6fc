"""The first deployment that restricts running nodes is a change that preflight prints."""

import json
from typing import Any

import pytest

from cli.preflight.changes import changes
from tests.unit.cli.preflight.fake_aws import FILE, asked, lines, stacks
from tests.unit.cli.preflight.test_eks import NEW

OPEN = f"{FILE}slurm: {{metadata_access: all}}\n"
NEVER = f"{FILE}lifecycle: {{follow: new_nodes}}\n"
RESTRICTS = (
    "change: `slurm.metadata_access`: all -> administrators (users and jobs cannot use the node role any more, `all` keeps it): "
    "running nodes"
)
NOTHING = "ok: network, storage and chat channels are as deployed"


def deployed(access: str) -> dict[str, Any]:
    """An account with a cluster of this access; an older deployment has none."""
    metadata = {"Metadata": {"MetadataAccess": access}} if access else {}
    rollout = {"Type": "Custom::HyperPodRollout", "Properties": {}, **metadata}
    cluster = {"Type": "Custom::HyperPodCluster", "Properties": {}}
    bodies = {"draft-Cluster": {"Resources": {"Rollout": rollout, "Cluster": cluster}}}
    return {
        "cloudformation.describe_stacks": stacks(Network={}, Cluster={}),
        "cloudformation.get_template": lambda StackName: {"TemplateBody": json.dumps(bodies.get(StackName, {}))},  # noqa: N803
    }


@pytest.mark.parametrize(
    ("access", "file", "line"),
    [
        ("", FILE, RESTRICTS),
        ("all", FILE, RESTRICTS),
        ("administrators", FILE, NOTHING),
        ("", OPEN, NOTHING),
        ("administrators", OPEN, "change: `slurm.metadata_access`: administrators -> all: running nodes"),
        ("", NEVER, NOTHING),
        ("", NEW, NOTHING),  # the file was changed to EKS
    ],
)
def test_a_change_of_the_users_of_the_node_role_is_printed(access: str, file: str, line: str) -> None:
    assert line in lines(asked(changes, deployed(access), file))
