"""Who may use the roles of the stacks, and for whom."""

from typing import Any

import pytest

from tests.synth.synthesized import Synthesized

DOCS = "https://docs.aws.amazon.com"

# The condition keys of each service, and the page that documents them, or that documents the trust policy without any.
TRUSTED = {
    "lambda.amazonaws.com": ([], f"{DOCS}/lambda/latest/dg/lambda-intro-execution-role.html"),
    "states.amazonaws.com": (
        ["aws:SourceAccount", "aws:SourceArn"],
        f"{DOCS}/step-functions/latest/dg/procedure-create-iam-role.html",
    ),
    "eks.amazonaws.com": (
        ["aws:SourceAccount", "aws:SourceArn"],
        f"{DOCS}/eks/latest/userguide/cross-service-confused-deputy-prevention.html",
    ),
    "pods.eks.amazonaws.com": (
        [
            "aws:RequestTag/eks-cluster-name",
            "aws:RequestTag/kubernetes-namespace",
            "aws:RequestTag/kubernetes-service-account",
        ],
        f"{DOCS}/eks/latest/userguide/pod-id-role.html",
    ),
    "vpc-flow-logs.amazonaws.com": (["aws:SourceAccount"], f"{DOCS}/vpc/latest/userguide/flow-logs-iam-role.html"),
    "sagemaker.amazonaws.com": ([], "undocumented: the field trust_source_account adds the account"),
    "chatbot.amazonaws.com": ([], f"{DOCS}/chatbot/latest/adminguide/security-iam.html: no key; the role has no permission"),
}
OF_THE_CDK = "CustomS3AutoDeleteObjectsCustomResourceProviderRole"


def trusts(synthesized: Synthesized) -> list[tuple[str, Any, dict[str, Any]]]:
    """Return cluster, service and conditions of each statement."""
    return [
        (f"{cluster}-{name}", statement["Principal"]["Service"], statement.get("Condition", {}))
        for cluster in synthesized.clusters
        for stack in synthesized.stacks(cluster)
        for name, role in stack.of_type("AWS::IAM::Role").items()
        if not name.startswith(OF_THE_CDK)
        for statement in role["Properties"]["AssumeRolePolicyDocument"]["Statement"]
    ]


def test_each_service_may_use_roles_only_for_this_account_where_aws_documents_how(
    shipped: Synthesized, variants: Synthesized
) -> None:
    found = trusts(shipped) + [each for each in trusts(variants) if not each[0].startswith("source-account")]
    assert {service for _, service, _ in found} == set(TRUSTED)
    for name, service, conditions in found:
        assert sorted(key for test in conditions.values() for key in test) == TRUSTED[service][0], name
        account = conditions.get("StringEquals", {}).get("aws:SourceAccount", {"Ref": "AWS::AccountId"})
        assert account == {"Ref": "AWS::AccountId"} or str(account).isdigit(), name


@pytest.mark.parametrize(
    ("service", "pattern"), [("states.amazonaws.com", "stateMachine:*"), ("eks.amazonaws.com", "cluster/eks-p5")]
)
def test_the_resources_that_use_a_role_are_named(shipped: Synthesized, service: str, pattern: str) -> None:
    [*found] = [
        conditions["ArnLike"]["aws:SourceArn"]
        for name, trusted, conditions in trusts(shipped)
        if trusted == service and name.startswith("eks-p5-")
    ]
    assert found
    assert all(str(arn["Fn::Join"][1][-1]).endswith(pattern) for arn in found)
