"""Rules for every statement of the cluster's roles."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.synth.synthesized import CLUSTER, StackTemplate, Synthesized

DENIED = "DenyChangesOfBundlePointer"
OURS = ("ClusterProvider", "NodeRole", "ControllerRole")
# Actions that support no resources, by https://docs.aws.amazon.com/service-authorization/latest/reference/.
WITHOUT_RESOURCES = (
    "cloudwatch:PutMetricData",
    "ec2:Describe",
    "ecr:GetAuthorizationToken",
    "fsx:Describe",
    "sagemaker:ListClusters",
    "ssmmessages:",
    "xray:",
)
LOG_DELIVERY = {
    "logs:CreateLogDelivery",
    "logs:DeleteLogDelivery",
    "logs:DescribeLogGroups",
    "logs:DescribeResourcePolicies",
    "logs:GetLogDelivery",
    "logs:ListLogDeliveries",
    "logs:PutResourcePolicy",
    "logs:UpdateLogDelivery",
}
CHANGES_CLUSTERS = ("Add", "Batch", "Create", "Delete", "Update")

Statement = dict[str, Any]


@pytest.fixture
def statements(shipped: Synthesized) -> list[Statement]:
    """Return the statements of all roles in the Cluster stacks of the shipped files."""
    found = [statement for cluster in shipped.clusters for statement in _of(shipped[cluster, CLUSTER])]
    assert len(found) >= 20 * len(shipped.clusters)
    return found


def _of(stack: StackTemplate) -> Iterator[Statement]:
    for logical_id, resource in stack.of_type("AWS::IAM::Role", "AWS::IAM::Policy").items():
        if logical_id.startswith(OURS):
            properties = resource["Properties"]
            for policy in properties.get("Policies", [properties]):
                yield from policy.get("PolicyDocument", {}).get("Statement", [])


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def actions(statement: Statement) -> list[str]:
    return as_list(statement["Action"])


def text(resource: Any) -> str:
    """Return a resource without its tokens."""
    return "".join(part for part in resource["Fn::Join"][1] if isinstance(part, str)) if "Fn::Join" in resource else str(resource)


def test_every_statement_has_a_sid_and_only_writing_the_pointer_is_denied(statements: list[Statement]) -> None:
    assert {statement["Sid"] for statement in statements if statement["Effect"] != "Allow"} == {DENIED}
    for statement in statements:
        assert statement["Sid"]
        assert "NotAction" not in statement
        assert "NotResource" not in statement


def test_no_action_has_a_wildcard(statements: list[Statement]) -> None:
    assert not [action for statement in statements for action in actions(statement) if "*" in action or "?" in action]


def test_only_actions_without_resources_are_allowed_on_all(statements: list[Statement]) -> None:
    on_all = {action for statement in statements if "*" in as_list(statement["Resource"]) for action in actions(statement)}
    assert not [action for action in on_all - LOG_DELIVERY if not action.startswith(WITHOUT_RESOURCES)]


def test_every_change_of_a_cluster_requires_the_tags_of_the_stack(statements: list[Statement]) -> None:
    checked = 0
    for statement in statements:
        changing = [
            each for each in actions(statement) if each.startswith(tuple(f"sagemaker:{verb}" for verb in CHANGES_CLUSTERS))
        ]
        if not changing or not any(text(resource).endswith("cluster/*") for resource in as_list(statement["Resource"])):
            continue
        keys = {key for condition in statement["Condition"].values() for key in condition}
        for tag in ("hyperpod-cdk:stack-id", "hyperpod-cdk:logical-id"):
            assert {f"aws:RequestTag/{tag}", f"aws:ResourceTag/{tag}"} & keys, f"{statement['Sid']} lacks {tag}"
        checked += 1
    assert checked >= 4


def test_statements_with_update_cluster_have_its_dependent_actions(statements: list[Statement]) -> None:
    """By https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonsagemaker.html."""
    updating = [each for each in statements if {"sagemaker:UpdateCluster", "sagemaker:DeleteCluster"} <= set(actions(each))]
    assert updating
    for statement in updating:
        assert {"sagemaker:BatchAddClusterNodes", "sagemaker:BatchDeleteClusterNodes"} <= set(actions(statement))


def test_roles_are_passed_by_arn_and_only_to_sagemaker(statements: list[Statement]) -> None:
    passing = [statement for statement in statements if "iam:PassRole" in actions(statement)]
    assert passing
    for statement in passing:
        assert actions(statement) == ["iam:PassRole"]
        assert "*" not in json.dumps(statement["Resource"])
        assert statement["Condition"] == {"StringEquals": {"iam:PassedToService": "sagemaker.amazonaws.com"}}
