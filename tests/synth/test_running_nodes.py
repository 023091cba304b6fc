"""How running nodes follow the cluster file: the pointer, the reports and the rollout."""

from typing import Any

import pytest

from local_aws.iam.policy import Verdict, judge
from tests.cluster_files import REFERENCE
from tests.synth.synthesized import CLUSTER, StackTemplate, Synthesized, resolved, synthesize
from tests.synth.test_script_bucket_policy import attempt, denied, known, managed_policies, role

PARAMETER = "parameter/hyperpod-cdk/reference/bundle"
ROLLOUT = "Custom::HyperPodRollout"


@pytest.fixture
def stack(shipped: Synthesized) -> StackTemplate:
    return shipped["reference", CLUSTER]


def statements(stack: StackTemplate, sid: str) -> list[Any]:
    """Return the statements with this Sid in all policies."""
    return [statement for _, statement in stack.statements() if statement.get("Sid") == sid]


def arn(resource: Any) -> str:
    """Return the end of an ARN."""
    return str(resource["Fn::Join"][1][-1]).rpartition(":")[2]


def test_nodes_read_only_their_pointer_and_no_policy_lets_them_write_it(stack: StackTemplate) -> None:
    [reading], [denied] = statements(stack, "ReadBundlePointer"), statements(stack, "DenyChangesOfBundlePointer")
    assert reading["Action"] == "ssm:GetParameter"
    assert arn(reading["Resource"]) == arn(denied["Resource"]) == PARAMETER
    assert denied["Effect"] == "Deny"
    assert denied["Action"] == ["ssm:DeleteParameter", "ssm:DeleteParameters", "ssm:PutParameter"]


def test_only_the_step_function_may_write_the_pointer(stack: StackTemplate) -> None:
    [moving] = statements(stack, "MoveBundlePointer")
    assert arn(moving["Resource"]) == PARAMETER
    policies = [each["Properties"] for each in stack.of_type("AWS::IAM::Policy").values()]
    [policy] = [each for each in policies if moving in each["PolicyDocument"]["Statement"]]
    [role] = policy["Roles"]
    assert role["Ref"].startswith("ClusterProviderStepAccess")


def test_only_the_step_function_may_sign_the_pointer(stack: StackTemplate) -> None:
    [key] = [name for name, each in stack.of_type("AWS::KMS::Key").items() if each["Properties"].get("KeyUsage") == "SIGN_VERIFY"]
    properties = stack.of_type("AWS::KMS::Key")[key]["Properties"]
    assert properties["KeySpec"] == "RSA_3072"
    [signing] = statements(stack, "SignBundlePointer")
    assert signing["Resource"] == {"Fn::GetAtt": [key, "Arn"]}
    [denied] = [each for each in properties["KeyPolicy"]["Statement"] if each["Effect"] == "Deny"]
    assert (denied["Action"], denied["Principal"]) == ("kms:Sign", {"AWS": "*"})
    [role] = denied["Condition"]["ArnNotEquals"].values()
    policies = [each["Properties"] for each in stack.of_type("AWS::IAM::Policy").values()]
    [holder] = [each["Roles"] for each in policies if signing in each["PolicyDocument"]["Statement"]]
    assert [role] == [{"Fn::GetAtt": [each["Ref"], "Arn"]} for each in holder]
    [rollout] = stack.of_type(ROLLOUT).values()
    assert rollout["Properties"]["SigningKey"] == {"Fn::GetAtt": [key, "Arn"]}


def test_no_aws_managed_policy_lets_another_role_sign_the_pointer(stack: StackTemplate) -> None:
    policy = resolved(stack.one("AWS::KMS::Key", named="BundleKey")[1]["Properties"]["KeyPolicy"]["Statement"], known)
    granting = [name for name, own in managed_policies().items() if judge(own, attempt("kms:Sign")) is Verdict.ALLOW]
    assert {"AdministratorAccess", "PowerUserAccess"} <= {*granting}
    assert denied(policy, "kms:Sign")
    assert not denied(policy, "kms:Sign", role(stack.one("AWS::IAM::Role", named="ProviderStepAccess")[0]))


def test_a_cluster_that_does_not_follow_has_no_pointer(tmp_path: Any) -> None:
    (tmp_path / "off.yaml").write_text(REFERENCE.read_text() + "lifecycle: {follow: new_nodes}\n")
    stack = synthesize(tmp_path / "out", tmp_path)["off", CLUSTER]
    assert not stack.of_type(ROLLOUT)
    [deletion] = statements(stack, "DeleteBundlePointer")  # an update that stops following deletes the rollout afterwards
    assert stack.text.count("hyperpod-cdk/off") == 1
    assert deletion["Action"] == "ssm:DeleteParameter"
    assert "SIGN_VERIFY" not in stack.text
    assert "Rollout" not in stack.outputs
