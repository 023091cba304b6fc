"""What the custom resource's step function may do: see every cluster, and change those of its own stack."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import aws_cdk as cdk
from aws_cdk import aws_iam as iam

from config.tags import LOGICAL_ID_TAG, STACK_ID_TAG, VERSION_TAG

HYPERPOD = "hyperpod.sagemaker.amazonaws.com"

# `make privilege` shows what fails without each other action.
UNSHOWN = {"iam:CreateServiceLinkedRole": "only an account's first cluster needs it, and what it fails with is not known"}


@dataclass(frozen=True)
class StepPermissions:
    """The statements of the step function's role, for the cluster of the resource with this logical id.

    A cluster's ARN ends in an id that nobody knows before, so that what tells clusters apart are the tags that CreateCluster puts
    on. https://docs.aws.amazon.com/service-authorization/latest/reference/list_sagemaker.html says which actions know them.
    """

    stack: cdk.Stack
    logical_id: str
    cluster_names: str
    role_arns: Sequence[str]
    training_plan_arns: Sequence[str]

    def statements(self) -> list[iam.PolicyStatement]:
        """All that the function may do, its logs aside."""
        return [*self._reading(), *self._explaining(), *self._creating(), *self._changing(), *self._roles()]

    def wildcards(self) -> dict[str, str]:
        """Why resources in the statements end in a wildcard."""
        return {
            self._clusters: "a cluster's ARN ends in a random id; all but reading asks for this stack's tags",
            self._node_logs: "a group of HyperPod's: its name ends in the cluster's random id, its streams' in instance ids",
            "*": "ListClusters knows no resources",
            **({self._reserved_capacity: "HyperPod names the capacity behind a plan"} if self.training_plan_arns else {}),
        }

    def _reading(self) -> list[iam.PolicyStatement]:
        return [
            iam.PolicyStatement(
                # Clusters of others, too: one that has the name we want is left alone, and its ARN is reported.
                sid="ReadClusters",
                actions=["sagemaker:DescribeCluster", "sagemaker:ListClusterNodes", "sagemaker:ListTags"],
                resources=[self._clusters],
            ),
            iam.PolicyStatement(sid="FindClusters", actions=["sagemaker:ListClusters"], resources=["*"]),
        ]

    def _explaining(self) -> list[iam.PolicyStatement]:
        """Read once, when a request has failed: what became of the nodes. Without these rights a failure says less, and which."""
        return [
            iam.PolicyStatement(
                sid="ReadWhyNodesFailed",
                actions=["sagemaker:DescribeClusterEvent", "sagemaker:ListClusterEvents"],
                resources=[self._clusters],
            ),
            iam.PolicyStatement(sid="ReadNodesLogs", actions=["logs:GetLogEvents"], resources=[self._node_logs]),
        ]

    def _creating(self) -> list[iam.PolicyStatement]:
        statements = [
            iam.PolicyStatement(
                # CreateCluster also asks for the right to tag the cluster.
                sid="CreateTheStacksCluster",
                actions=["sagemaker:AddTags", "sagemaker:CreateCluster"],
                resources=[self._clusters],
                conditions={
                    "StringEquals": self._ownership("aws:RequestTag"),
                    # Or it could tag another stack's cluster as its own, and then change it.
                    "StringEqualsIfExists": self._ownership("aws:ResourceTag"),
                },
            ),
            iam.PolicyStatement(
                # And for this one; nobody says that the tags of the request come with it.
                sid="BringTheStacksClusterToAnImage",
                actions=["sagemaker:UpdateClusterSoftware"],
                resources=[self._clusters],
                conditions={"StringEqualsIfExists": self._ownership("aws:ResourceTag")},
            ),
        ]
        if self.training_plan_arns:
            statements.append(
                iam.PolicyStatement(
                    sid="UseTrainingPlans",
                    actions=["sagemaker:CreateCluster", "sagemaker:UpdateCluster"],
                    resources=[*self.training_plan_arns, self._reserved_capacity],
                )
            )
        return statements

    def _changing(self) -> list[iam.PolicyStatement]:
        return [
            self._giving_back(),
            iam.PolicyStatement(
                # UpdateCluster depends on the two Batch actions.
                sid="ChangeTheStacksCluster",
                actions=[
                    "sagemaker:BatchAddClusterNodes",
                    "sagemaker:BatchDeleteClusterNodes",
                    "sagemaker:DeleteCluster",
                    "sagemaker:UpdateCluster",
                ],
                resources=[self._clusters],
                conditions={"StringEquals": self._ownership("aws:ResourceTag")},
            ),
            iam.PolicyStatement(
                sid="ChangeTagsButNotWhoseItIs",
                actions=["sagemaker:AddTags", "sagemaker:DeleteTags"],
                resources=[self._clusters],
                conditions={
                    "StringEquals": self._ownership("aws:ResourceTag"),
                    "ForAllValues:StringNotEquals": {"aws:TagKeys": [STACK_ID_TAG, LOGICAL_ID_TAG]},
                },
            ),
        ]

    def _giving_back(self) -> iam.PolicyStatement:
        """Take the stack's tags off its cluster; that it may put them on one without an owner is part of creating.

        Whatever the file says now: an update that takes `adopt` out of it and changes the name comes with a new policy first, and
        ends with the old cluster's Delete, which is still one of an adopted cluster.
        """
        return iam.PolicyStatement(
            sid="GiveAnAdoptedClusterBack",
            actions=["sagemaker:DeleteTags"],
            resources=[self._clusters],
            conditions={
                "StringEquals": self._ownership("aws:ResourceTag"),
                "ForAllValues:StringEquals": {"aws:TagKeys": [STACK_ID_TAG, LOGICAL_ID_TAG, VERSION_TAG]},
            },
        )

    def _roles(self) -> list[iam.PolicyStatement]:
        linked_role = self.stack.format_arn(
            service="iam",
            region="",
            resource="role",
            resource_name=f"aws-service-role/{HYPERPOD}/AWSServiceRoleForSageMakerHyperPod",
        )
        return [
            iam.PolicyStatement(
                sid="GiveNodesTheirRole",
                actions=["iam:PassRole"],
                resources=list(self.role_arns),
                conditions={"StringEquals": {"iam:PassedToService": "sagemaker.amazonaws.com"}},
            ),
            iam.PolicyStatement(
                sid="MakeTheAccountsFirstCluster", actions=["iam:CreateServiceLinkedRole"], resources=[linked_role]
            ),
        ]

    def _ownership(self, key: str) -> dict[str, str]:
        return {f"{key}/{STACK_ID_TAG}": self.stack.stack_id, f"{key}/{LOGICAL_ID_TAG}": self.logical_id}

    @cached_property
    def _clusters(self) -> str:
        return self.stack.format_arn(service="sagemaker", resource="cluster", resource_name="*")

    @cached_property
    def _node_logs(self) -> str:
        """The lifecycle scripts' streams in HyperPod's log groups of this file's clusters."""
        return self.stack.format_arn(
            service="logs",
            resource="log-group",
            arn_format=cdk.ArnFormat.COLON_RESOURCE_NAME,
            resource_name=f"/aws/sagemaker/Clusters/{self.cluster_names}/*:log-stream:LifecycleConfig/*",
        )

    @cached_property
    def _reserved_capacity(self) -> str:
        return self.stack.format_arn(service="sagemaker", resource="reserved-capacity", resource_name="*")
