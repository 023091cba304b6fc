"""The stack of add-ons and quotas: a recreated cluster has another ARN, which quotas read only if their template changes."""

import json
from typing import Any

import pytest
import yaml

from tests.cluster_files import EXAMPLES
from tests.synth.synthesized import StackTemplate, synthesize_contents

QUOTA = {"resources": [{"instance_type": "ml.g5.xlarge", "count": 1}]}
TEAM = {"name": "research", "role_arns": ["arn:aws:iam::123456789012:role/Researcher"], "quota": QUOTA}
MORE_NODES = {"instance_count": 3}
CHANGES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "same": ({}, {}),
    "more-nodes": ({}, MORE_NODES),
    "named": ({"cluster_name": "ml"}, {}),
    "recreate": ({"recreate": True}, {}),
    "recreate-more-nodes": ({"recreate": True}, MORE_NODES),
}


@pytest.fixture(scope="module")
def stacks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, StackTemplate]:
    """Return the stack of eks.yaml with a quota, for each change of the file and of its first group."""
    content = yaml.safe_load((EXAMPLES / "eks.yaml").read_text())
    content["eks"]["teams"] = [TEAM]
    first, *others = content["instance_groups"]
    found = synthesize_contents(
        tmp_path_factory.mktemp("out"),
        {
            name: {**content, "instance_groups": [{**first, **of_group}, *others], **change}
            for name, (change, of_group) in CHANGES.items()
        },
    )
    return {name: found[name, "Addons"] for name in CHANGES}


@pytest.fixture(scope="module")
def identities(stacks: dict[str, StackTemplate]) -> dict[str, str]:
    """Return the identity in the quotas of each stack."""
    return {name: str(stack.properties("Custom::HyperPodComputeQuotas")["Identity"]) for name, stack in stacks.items()}


def test_nothing_follows_the_check_of_addons_whose_rollback_would_check_them_again(stacks: dict[str, StackTemplate]) -> None:
    resources = stacks["same"].resources
    [(check, found)] = stacks["same"].of_type("Custom::HyperPodAddonHealth").items()
    before = {name for name, each in resources.items() if each["Type"] in ("AWS::EKS::Addon", "Custom::HyperPodComputeQuotas")}
    assert before <= set(found["DependsOn"])
    assert check not in json.dumps([each for name, each in resources.items() if name != check])


def test_a_new_cluster_changes_the_quotas(identities: dict[str, str]) -> None:
    assert len({identities[name] for name in ("same", "named", "recreate")}) == 3


def test_each_update_that_can_recreate_the_cluster_changes_the_quotas(identities: dict[str, str]) -> None:
    assert identities["recreate"] != identities["recreate-more-nodes"]
    assert identities["same"] == identities["more-nodes"]
