"""Define the permissions of the step function: read all clusters, and change those of its stack."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import aws_cdk as cdk
from aws_cdk import aws_iam as iam

from config.tags import LOGICAL_ID_TAG, STACK_ID_TAG, VERSION_TAG
from constructs.hyperpod.cluster.key_permissions import encrypt_volumes
from constructs.hyperpod.cluster.orchestrator_permissions import admit_nodes, entry_wildcard
from constructs.hyperpod.statement import allow

HYPERPOD = "hyperpod.sagemaker.amazonaws.com"
# A call that an AWS service makes with the caller's rights.
BY_A_SERVICE = {"Bool": {"aws:ViaAWSService": "true"}}


@dataclass(frozen=True)
class StepPermissions:
    """Define the statements of the step function's role, for the cluster of the resource with this logical ID.

    A cluster's ARN ends in a random ID, so statements identify the cluster by the ownership tags that CreateCluster sets.
    https://docs.aws.amazon.com/service-authorization/latest/reference/list_sagemaker.html lists the actions that support tags.
    """

    stack: cdk.Stack
    logical_id: str
    cluster_names: str
    role_arns: Sequence[str]
    cluster_role_arn: str | None
    training_plan_arns: Sequence[str]
    image_ids: Sequence[str]
    volume_key_ids: Sequence[str]
    bundle_parameter: str | None = None
    eks_cluster_name: str | None = None
    adopts: bool = False

    def statements(self) -> list[iam.PolicyStatement]:
        """Return all statements except those for logs."""
        return [
            *self._read(),
            *self._explain_failures(),
            *self._create(),
            *self._change(),
            *self._images(),
            *encrypt_volumes(self.stack, self.volume_key_ids),
            *self._roles(),
            *self._delete_pointer(),
            # Whether an update is a rollback's, which cannot be refused.
            allow("ReadStackStatus", self.stack.stack_id, "cloudformation:DescribeStacks"),
            *(admit_nodes(self.stack, self.eks_cluster_name) if self.eks_cluster_name else []),
        ]

    def wildcards(self) -> dict[str, str]:
        """Return the reason for each wildcard in the statements."""
        return {
            self._clusters: "the ARN of a cluster ends in a random ID; all actions except reads require the tags of this stack",
            self._node_logs: "HyperPod creates log group and streams; their names end in cluster and instance IDs",
            "*": "ListClusters and Describe actions on images support no resources",
            **({self._snapshots: "the image names its snapshots, which are unknown at synth"} if self.image_ids else {}),
            **(entry_wildcard(self.stack, self.eks_cluster_name) if self.eks_cluster_name else {}),
            **({self._reserved_capacity: "HyperPod names the capacity of training plans"} if self.training_plan_arns else {}),
        }

    def _read(self) -> list[iam.PolicyStatement]:
        return [
            # All clusters: one of the same name without this stack's tags is reported, and never changed.
            allow(
                "ReadClusters", self._clusters, "sagemaker:DescribeCluster", "sagemaker:ListClusterNodes", "sagemaker:ListTags"
            ),
            allow("ListClusters", "*", "sagemaker:ListClusters"),
        ]

    def _explain_failures(self) -> list[iam.PolicyStatement]:
        """Allow reading why nodes failed; without these rights, the error names the missing one and is less specific."""
        return [
            allow("ReadClusterEvents", self._clusters, "sagemaker:DescribeClusterEvent", "sagemaker:ListClusterEvents"),
            allow("ReadNodeLogs", self._node_logs, "logs:GetLogEvents"),
        ]

    def _create(self) -> list[iam.PolicyStatement]:
        # Without the tags of the resource, the function could take over a cluster of another stack by changing its tags.
        new = {"StringEqualsIfExists": self._ownership("aws:ResourceTag")}
        ours = self._ownership("aws:RequestTag")
        statements = [
            allow("CreateCluster", self._clusters, "sagemaker:CreateCluster", StringEquals=ours, **new),
            # CreateCluster also requires the right to tag the cluster; the key has the name of the operation that creates it.
            allow(
                "TagNewCluster",
                self._clusters,
                "sagemaker:AddTags",
                StringEquals={**ours, "sagemaker:TaggingAction": "CreateCluster"},
                **new,
            ),
            *(self._adopt() if self.adopts else []),
            # CreateCluster requires this, too; whether with the request's tags is not documented.
            allow(
                "UpdateClusterSoftware",
                self._clusters,
                "sagemaker:UpdateClusterSoftware",
                StringEqualsIfExists=self._ownership("aws:ResourceTag"),
            ),
        ]
        if self.training_plan_arns:
            statements.append(
                allow(
                    "UseTrainingPlans",
                    [*self.training_plan_arns, self._reserved_capacity],
                    "sagemaker:CreateCluster",
                    "sagemaker:UpdateCluster",
                )
            )
        return statements

    def _adopt(self) -> list[iam.PolicyStatement]:
        """Allow adding the stack's ownership tags to an existing cluster without an owner."""
        return [
            allow(
                "AdoptCluster",
                self._clusters,
                "sagemaker:AddTags",
                StringEquals=self._ownership("aws:RequestTag"),
                StringEqualsIfExists=self._ownership("aws:ResourceTag"),
            )
        ]

    def _change(self) -> list[iam.PolicyStatement]:
        return [
            self._release(),
            # UpdateCluster requires both Batch actions.
            allow(
                "UpdateAndDeleteCluster",
                self._clusters,
                "sagemaker:BatchAddClusterNodes",
                "sagemaker:BatchDeleteClusterNodes",
                "sagemaker:DeleteCluster",
                "sagemaker:UpdateCluster",
                StringEquals=self._ownership("aws:ResourceTag"),
            ),
            allow(
                "ManageTagsExceptOwnership",
                self._clusters,
                "sagemaker:AddTags",
                "sagemaker:DeleteTags",
                StringEquals=self._ownership("aws:ResourceTag"),
                **{"ForAllValues:StringNotEquals": {"aws:TagKeys": [STACK_ID_TAG, LOGICAL_ID_TAG]}},
            ),
        ]

    def _images(self) -> list[iam.PolicyStatement]:
        """Allow HyperPod to share the file's images with its own account, which it does with the caller's rights.

        https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonsagemaker.html: CreateCluster depends on
        these actions, also UpdateCluster and UpdateClusterSoftware.
        """
        if not self.image_ids:
            return []
        images = [
            self.stack.format_arn(service="ec2", account="", resource="image", resource_name=each) for each in self.image_ids
        ]
        return [
            allow("DescribeImages", "*", "ec2:DescribeImages", "ec2:DescribeSnapshots"),
            allow("ShareImages", images, "ec2:ModifyImageAttribute", **BY_A_SERVICE),
            allow("ShareSnapshots", self._snapshots, "ec2:ModifySnapshotAttribute", **BY_A_SERVICE),
        ]

    def _release(self) -> iam.PolicyStatement:
        """Allow removing the stack's ownership tags from its cluster.

        This does not depend on `adopt` in the file: an update that removes it and changes the name first replaces the policy,
        then deletes the old cluster's resource, which still releases an adopted cluster.
        """
        return allow(
            "ReleaseAdoptedCluster",
            self._clusters,
            "sagemaker:DeleteTags",
            StringEquals=self._ownership("aws:ResourceTag"),
            **{"ForAllValues:StringEquals": {"aws:TagKeys": [STACK_ID_TAG, LOGICAL_ID_TAG, VERSION_TAG]}},
        )

    def _roles(self) -> list[iam.PolicyStatement]:
        linked_role = self.stack.format_arn(
            service="iam",
            region="",
            resource="role",
            resource_name=f"aws-service-role/{HYPERPOD}/AWSServiceRoleForSageMakerHyperPod",
        )
        passed = {"PassExecutionRole": (list(self.role_arns), "sagemaker.amazonaws.com")}
        if self.cluster_role_arn:
            passed["PassClusterRole"] = ([self.cluster_role_arn], HYPERPOD)
        return [
            *(
                allow(sid, arns, "iam:PassRole", StringEquals={"iam:PassedToService": service})
                for sid, (arns, service) in passed.items()
            ),
            allow("CreateServiceLinkedRole", linked_role, "iam:CreateServiceLinkedRole"),
        ]

    def _delete_pointer(self) -> list[iam.PolicyStatement]:
        """Allow deleting the pointer of running nodes.

        This does not depend on `lifecycle.follow` in the file: an update that changes it first replaces the policy, then deletes
        Custom::HyperPodRollout.
        """
        if self.bundle_parameter is None:
            return []
        parameter = self.stack.format_arn(service="ssm", resource="parameter", resource_name=self.bundle_parameter.lstrip("/"))
        return [allow("DeleteBundlePointer", parameter, "ssm:DeleteParameter")]

    def _ownership(self, key: str) -> dict[str, str]:
        return {f"{key}/{STACK_ID_TAG}": self.stack.stack_id, f"{key}/{LOGICAL_ID_TAG}": self.logical_id}

    @cached_property
    def _clusters(self) -> str:
        return self.stack.format_arn(service="sagemaker", resource="cluster", resource_name="*")

    @cached_property
    def _node_logs(self) -> str:
        """Return the ARN pattern of the lifecycle scripts' log streams of this file's clusters."""
        return self.stack.format_arn(
            service="logs",
            resource="log-group",
            arn_format=cdk.ArnFormat.COLON_RESOURCE_NAME,
            resource_name=f"/aws/sagemaker/Clusters/{self.cluster_names}/*:log-stream:LifecycleConfig/*",
        )

    @cached_property
    def _snapshots(self) -> str:
        return self.stack.format_arn(service="ec2", account="", resource="snapshot", resource_name="*")

    @cached_property
    def _reserved_capacity(self) -> str:
        return self.stack.format_arn(service="sagemaker", resource="reserved-capacity", resource_name="*")
