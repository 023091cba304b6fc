"""What the step function may do with clusters: with its own everything it needs, with others' nothing but look."""

from aws_cdk import Aws
from aws_cdk import aws_iam as iam

CLUSTERS = f"arn:{Aws.PARTITION}:sagemaker:{Aws.REGION}:{Aws.ACCOUNT_ID}:cluster/*"
STACK_TAG, LOGICAL_ID_TAG = "hyperpod-cdk:stack-id", "hyperpod-cdk:logical-id"


def step_statements(logical_id: str) -> tuple[iam.PolicyStatement, ...]:
    """A cluster's ARN ends in an id that nobody knows before, so that ownership is told by tags."""
    requested = {"StringEquals": {f"aws:RequestTag/{STACK_TAG}": Aws.STACK_ID, f"aws:RequestTag/{LOGICAL_ID_TAG}": logical_id}}
    owned = {"StringEquals": {f"aws:ResourceTag/{STACK_TAG}": Aws.STACK_ID, f"aws:ResourceTag/{LOGICAL_ID_TAG}": logical_id}}
    looks = (
        "DescribeCluster",
        "DescribeClusterEvent",
        "DescribeClusterNode",
        "ListClusterEvents",
        "ListClusterNodes",
        "ListTags",
    )
    return (
        iam.PolicyStatement(
            sid="CreateWithOurTags",
            actions=["sagemaker:CreateCluster", "sagemaker:AddTags"],
            resources=[CLUSTERS],
            conditions=requested,
        ),
        iam.PolicyStatement(
            sid="ChangeOurs",
            actions=[f"sagemaker:{name}" for name in ("AddTags", "DeleteCluster", "DeleteTags", "UpdateCluster")],
            resources=[CLUSTERS],
            conditions=owned,
        ),
        # CreateCluster is authorized for this too (service authorization reference), without tags to ask for.
        iam.PolicyStatement(sid="CreateAsksForThis", actions=["sagemaker:UpdateClusterSoftware"], resources=[CLUSTERS]),
        iam.PolicyStatement(sid="Look", actions=[f"sagemaker:{name}" for name in looks], resources=[CLUSTERS]),
        iam.PolicyStatement(sid="FindByTags", actions=["sagemaker:ListClusters"], resources=["*"]),
    )
