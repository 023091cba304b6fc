"""Define the scheduler config and the compute quotas of the teams (HyperPod task governance)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from constructs import Construct, IDependable

from cluster_request.property_values import named_properties, property_value
from cluster_request.request import Request
from config.tags import LOGICAL_ID_TAG, STACK_ID_TAG
from constructs.hyperpod.cluster.cluster_provider import ClusterProvider
from constructs.hyperpod.cluster.function_package import QUOTA_PACKAGE
from constructs.hyperpod.statement import allow


class ComputeQuotas(Construct):
    """Define the custom resource for the quotas and the scheduler config of a cluster.

    CloudFormation's own types are missing in the registry of many regions, such as us-west-2 (cfn-lint 1.58.0 has a copy).
    ``identity`` changes with the cluster behind a reference to another stack (docs/adr/0003-weak-references.md).
    ``needs`` must exist until they are deleted: the cluster and the task governance add-on.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster_arn: str,
        eks_cluster_name: str,
        quotas: Sequence[Request],
        identity: str,
        tags: Mapping[str, str],
        scheduler: Request | None = None,
        needs: Sequence[IDependable] = (),
        alarm_topic_arn: str | None = None,
    ) -> None:
        super().__init__(scope, id)
        provider = ClusterProvider(self, "Provider", alarm_topic_arn=alarm_topic_arn, step_package=QUOTA_PACKAGE)
        self.resource = resource = cdk.CustomResource(
            self,
            "Resource",
            resource_type="Custom::HyperPodComputeQuotas",
            service_token=provider.service_token,
            service_timeout=cdk.Duration.hours(1),
            properties={
                "ClusterArn": cluster_arn,
                "Identity": identity,
                **named_properties("Quota", ((each["ComputeQuotaTarget"]["TeamName"], each) for each in quotas)),
                **({} if scheduler is None else {"SchedulerConfig": property_value(scheduler)}),
                "Tags": [{"Key": key, "Value": value} for key, value in tags.items()],
            },
        )
        resource.node.add_dependency(provider, *needs)
        stack = cdk.Stack.of(self)
        logical_id = stack.get_logical_id(cast("cdk.CfnElement", resource.node.default_child))
        provider.permit(QuotaPermissions(stack=stack, logical_id=logical_id, eks_cluster_name=eks_cluster_name))


@dataclass(frozen=True)
class QuotaPermissions:
    """Define the statements of the step function's role, for the items of the resource with this logical ID.

    ARNs end in random IDs, so statements identify items by the ownership tags that their creation sets.
    https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonsagemaker.html lists the actions.
    """

    stack: cdk.Stack
    logical_id: str
    eks_cluster_name: str

    def statements(self) -> list[iam.PolicyStatement]:
        """Return all statements except those for logs."""
        return [*self._read(), *self._change(), *self._access()]

    def wildcards(self) -> dict[str, str]:
        """Return the reason for each wildcard in the statements."""
        own = "its ARN ends in a random ID; all actions except reads require the tags of this stack"
        return {
            **dict.fromkeys(self._items, own),
            self._clusters: "the ARN of a cluster ends in a random ID; allowed are reads and items with this stack's tags",
            self._entries: "the ARN of an access entry ends in a random ID",
            "*": "ListComputeQuotas and ListClusterSchedulerConfigs support no resources",
        }

    def _read(self) -> list[iam.PolicyStatement]:
        return [
            allow("ListQuotas", "*", "sagemaker:ListClusterSchedulerConfigs", "sagemaker:ListComputeQuotas"),
            # All items: one of the same team without this stack's tags is reported, and never changed.
            allow(
                "ReadQuotas",
                self._items,
                "sagemaker:DescribeClusterSchedulerConfig",
                "sagemaker:DescribeComputeQuota",
                "sagemaker:ListTags",
            ),
        ]

    def _change(self) -> list[iam.PolicyStatement]:
        creations = ["sagemaker:CreateClusterSchedulerConfig", "sagemaker:CreateComputeQuota"]
        ours = self._ownership("aws:RequestTag")
        return [
            allow(
                "CreateQuotas",
                self._items,
                *creations,
                StringEquals=ours,
                StringEqualsIfExists=self._ownership("aws:ResourceTag"),
            ),
            # A creation also requires the right to tag. Other calls must not: the function could take over another quota.
            allow(
                "TagNewQuotas",
                self._items,
                "sagemaker:AddTags",
                StringEquals={**ours, "sagemaker:TaggingAction": [each.removeprefix("sagemaker:") for each in creations]},
                StringEqualsIfExists=self._ownership("aws:ResourceTag"),
            ),
            # A creation also requires the right on the cluster, which has the tags of another stack.
            allow("CreateQuotasOfCluster", self._clusters, *creations, StringEquals=ours),
            allow(
                "UpdateAndDeleteQuotas",
                self._items,
                "sagemaker:DeleteClusterSchedulerConfig",
                "sagemaker:DeleteComputeQuota",
                "sagemaker:UpdateClusterSchedulerConfig",
                "sagemaker:UpdateComputeQuota",
                StringEquals=self._ownership("aws:ResourceTag"),
            ),
            allow(
                "ManageTagsExceptOwnership",
                self._items,
                "sagemaker:AddTags",
                "sagemaker:DeleteTags",
                StringEquals=self._ownership("aws:ResourceTag"),
                **{"ForAllValues:StringNotEquals": {"aws:TagKeys": [STACK_ID_TAG, LOGICAL_ID_TAG]}},
            ),
        ]

    def _access(self) -> list[iam.PolicyStatement]:
        """Allow HyperPod to find the EKS cluster and its own access entry, which it does with the caller's rights.

        The handlers of AWS::SageMaker::ClusterSchedulerConfig in CloudFormation's registry list these actions.
        """
        return [
            allow("DescribeCluster", self._clusters, "sagemaker:DescribeCluster"),
            allow("DescribeEksCluster", self._eks_cluster, "eks:DescribeCluster"),
            allow(
                "AllowTaskGovernanceInEks",
                self._entries,
                "eks:AssociateAccessPolicy",
                "eks:DescribeAccessEntry",
                "eks:DisassociateAccessPolicy",
                "eks:ListAssociatedAccessPolicies",
            ),
        ]

    def _ownership(self, key: str) -> dict[str, str]:
        return {f"{key}/{STACK_ID_TAG}": self.stack.stack_id, f"{key}/{LOGICAL_ID_TAG}": self.logical_id}

    @cached_property
    def _items(self) -> list[str]:
        kinds = ("cluster-scheduler-config", "compute-quota")
        return [self.stack.format_arn(service="sagemaker", resource=kind, resource_name="*") for kind in kinds]

    @cached_property
    def _clusters(self) -> str:
        return self.stack.format_arn(service="sagemaker", resource="cluster", resource_name="*")

    @cached_property
    def _eks_cluster(self) -> str:
        return self.stack.format_arn(service="eks", resource="cluster", resource_name=self.eks_cluster_name)

    @cached_property
    def _entries(self) -> str:
        return self.stack.format_arn(service="eks", resource="access-entry", resource_name=f"{self.eks_cluster_name}/*")
