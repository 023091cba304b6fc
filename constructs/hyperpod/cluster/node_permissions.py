"""Define the permissions of nodes."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import aws_cdk as cdk
from aws_cdk import aws_iam as iam

from cluster_request.effective_request import EffectiveRequest
from config.fingerprint import fingerprint
from config.model import ClusterConfig
from config.storage import NodeAccess
from constructs.hyperpod.cluster.generated_names import cluster_names
from constructs.hyperpod.cluster.key_permissions import encrypt_volumes, read_secrets, volume_key_ids
from constructs.hyperpod.cluster.orchestrator_permissions import ASSIGN_POD_ADDRESSES, join_kubernetes, join_wildcards
from constructs.hyperpod.lifecycle.lifecycle_scripts import LifecycleScripts
from constructs.hyperpod.network.network import Network
from constructs.hyperpod.statement import allow

NAMESPACE = "/aws/sagemaker/Clusters"


@dataclass(frozen=True)
class NodePermissions:
    """Define the statements of a node role.

    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites-iam.html lists the actions, on ``*``.
    """

    stack: cdk.Stack
    config: ClusterConfig
    network: Network
    scripts: LifecycleScripts
    data_bucket_name: str | None
    is_for_controllers: bool = False

    def statements(self) -> list[iam.PolicyStatement]:
        """Return all statements except ``manage_interfaces``."""
        return [
            *self._observability(),
            *self._scripts(),
            *(self.scripts.running_nodes.node_statements() if self.scripts.running_nodes else []),
            *self._create_interfaces(),
            allow(
                "DescribeNetwork",
                "*",
                "ec2:DescribeDhcpOptions",
                "ec2:DescribeNetworkInterfaces",
                "ec2:DescribeSecurityGroups",
                "ec2:DescribeSubnets",
                "ec2:DescribeVpcs",
            ),
            *self._mounts(),
            *(
                join_kubernetes(self.stack, self.config, instance=self._instance, security_groups=self._security_groups)
                if self.config.eks
                else []
            ),
            *read_secrets(self.config, is_for_controllers=self.is_for_controllers),
            *self._data_bucket(),
            # HyperPod adds and patches nodes without a call of the deployment.
            *encrypt_volumes(self.stack, volume_key_ids(self._request)),
        ]

    def manage_interfaces(self) -> iam.PolicyStatement:
        """Allow HyperPod to share, tag, detach and delete existing network interfaces of nodes, and pods to use them.

        https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonec2.html lists ec2:Subnet for each action.
        The subnets accept any account, because the ARN of a shared subnet contains its owner's. Interfaces of file systems have a
        tag: https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AmazonFSxServiceRolePolicy.html.
        """
        return allow(
            "ManageNetworkInterfaces",
            self._interface,
            "ec2:CreateNetworkInterfacePermission",
            "ec2:CreateTags",  # AWS's policies need no ec2:CreateAction: HyperPod may tag in a separate call
            "ec2:DeleteNetworkInterface",
            "ec2:DeleteNetworkInterfacePermission",
            "ec2:DetachNetworkInterface",
            *(ASSIGN_POD_ADDRESSES if self.config.eks else ()),
            ArnEquals={"ec2:Subnet": [self._ec2("subnet", each, account="*") for each in self._subnets]},
            Null={"aws:ResourceTag/AmazonFSx.FileSystemId": "true"},
        )

    @property
    def subnets_identity(self) -> str:
        """A hash that changes with the subnets in ``manage_interfaces``."""
        return fingerprint(self.network.identity, *self._overridden("Subnets"))

    def wildcards(self) -> dict[str, str]:
        """Return the reason for each wildcard in the statements."""
        group = self._log_group
        return {
            group: "HyperPod creates the log group; its name ends in the cluster ID, which is unknown at synth",
            f"{group}:log-stream:*": "names of log streams contain instance groups and instances, which change",
            self.scripts.bucket.scripts_arn: "prefixes contain a hash of the scripts; older nodes read older prefixes",
            **self._data_bucket_wildcard(),
            **{
                arn: "the account is the owner's in a shared VPC; IDs are unique across accounts"
                for arn in self._subnets_and_groups
                if ":*:" in arn
            },
            **self.interface_wildcard(),
            self._instance: "instances belong to HyperPod's account; only the cluster's network interfaces can be detached",
            **(join_wildcards(self.stack) if self.config.eks else {}),
            "*": "PutMetricData (limited to a namespace), ssmmessages and Describe actions support no resources",
        }

    def _data_bucket_wildcard(self) -> dict[str, str]:
        if self.config.storage.data_bucket.node_access is NodeAccess.NONE:
            return {}
        return {f"{self._data_bucket_arn}/*": "`node_access` of the cluster file allows access to all objects of the data bucket"}

    def interface_wildcard(self) -> dict[str, str]:
        """Return the reason for the wildcard in statements on network interfaces."""
        return {self._interface: "IDs are unknown at synth; actions on existing interfaces are limited to the cluster's subnets"}

    def _observability(self) -> list[iam.PolicyStatement]:
        return [
            allow("CreateLogGroup", self._log_group, "logs:CreateLogGroup"),
            allow(
                "WriteLogs",
                f"{self._log_group}:log-stream:*",
                "logs:CreateLogStream",
                "logs:DescribeLogStreams",
                "logs:PutLogEvents",
            ),
            allow("WriteMetrics", "*", "cloudwatch:PutMetricData", StringEquals={"cloudwatch:namespace": NAMESPACE}),
            allow(
                "AllowSsmSessions",
                "*",
                "ssmmessages:CreateControlChannel",
                "ssmmessages:CreateDataChannel",
                "ssmmessages:OpenControlChannel",
                "ssmmessages:OpenDataChannel",
            ),
        ]

    def _scripts(self) -> list[iam.PolicyStatement]:
        """Allow only reads: write access to the scripts would be root access to all new nodes."""
        own_account = {"aws:ResourceAccount": cdk.Aws.ACCOUNT_ID}
        return [
            allow("ReadScripts", self.scripts.bucket.scripts_arn, "s3:GetObject", StringEquals=own_account),
            allow("ListScripts", self.scripts.bucket.bucket_arn, "s3:ListBucket", StringEquals=own_account),
        ]

    def _create_interfaces(self) -> list[iam.PolicyStatement]:
        """Allow HyperPod, in whose account nodes run, to create their network interfaces in this account."""
        return [
            allow("CreateNetworkInterfaces", [self._interface, *self._subnets_and_groups], "ec2:CreateNetworkInterface"),
            allow(
                "TagNewNetworkInterfaces",
                self._interface,
                "ec2:CreateTags",
                StringEquals={"ec2:CreateAction": "CreateNetworkInterface"},
            ),
            # Detaching also requires the right on the interface, which is limited to the cluster's subnets.
            allow("DetachNetworkInterfaces", self._instance, "ec2:DetachNetworkInterface"),
        ]

    def _mounts(self) -> list[iam.PolicyStatement]:
        """Allow HyperPod to find file systems in InstanceStorageConfigs, and AWS's scripts to see which are EFA-enabled.

        Our scripts mount by name and read from node_settings.json whether the file system is EFA-enabled.
        """
        entries = [each for group in self._request.groups for each in group.entries("InstanceStorageConfigs")]
        kinds = ("FsxLustreConfig", "FsxOpenZfsConfig")
        is_mounted_by_hyperpod = any(entry.member(kind).is_given for entry in entries for kind in kinds)
        existing = self.config.storage.existing
        is_looked_up = self.config.lifecycle.source is not None and existing is not None and existing.efa
        if not (is_mounted_by_hyperpod or is_looked_up):
            return []
        return [allow("DescribeFileSystems", "*", "fsx:DescribeFileSystems")]

    def _data_bucket(self) -> list[iam.PolicyStatement]:
        """Allow what `node_access` sets; `write` deletes too, as programs rotate checkpoints and PutObject can overwrite."""
        access, objects = self.config.storage.data_bucket.node_access, f"{self._data_bucket_arn}/*"
        statements = []
        if access is not NodeAccess.NONE:
            statements.append(allow("ListDataBucket", self._data_bucket_arn, "s3:ListBucket"))
            statements.append(allow("ReadDataBucket", objects, "s3:GetObject"))
        if access is NodeAccess.WRITE:
            writing = ("s3:AbortMultipartUpload", "s3:DeleteObject", "s3:PutObject")
            statements.append(allow("WriteDataBucket", objects, *writing))
        return statements

    @cached_property
    def _data_bucket_arn(self) -> str:
        return self.stack.format_arn(service="s3", region="", account="", resource=str(self.data_bucket_name))

    @cached_property
    def _subnets(self) -> list[str]:
        """Return the subnets of all instance groups."""
        return [*self.network.node_subnet_ids, *self._overridden("Subnets")]

    @cached_property
    def _subnets_and_groups(self) -> list[str]:
        """Return the ARNs of subnets and security groups; those of existing ones accept any account, as they may be shared.

        The ARN of a shared subnet contains its owner's: https://docs.aws.amazon.com/vpc/latest/userguide/vpc-sharing.html.
        """
        return [*self._arns("subnet", self.network.node_subnet_ids, "Subnets"), *self._security_groups]

    @cached_property
    def _security_groups(self) -> list[str]:
        """Return the ARNs of the security groups of all instance groups."""
        return self._arns("security-group", [self.network.security_group_id], "SecurityGroupIds")

    def _arns(self, resource: str, ids: Iterable[str], field: str) -> list[str]:
        """Return the ARNs of the network's resources and of those in the field of each OverrideVpcConfig."""
        account = "*" if self.config.network.existing else None
        own = [self._ec2(resource, each, account) for each in ids]
        return list(dict.fromkeys([*own, *(self._ec2(resource, each, "*") for each in self._overridden(field))]))

    def _overridden(self, field: str) -> list[str]:
        """Return the field's IDs from each OverrideVpcConfig."""
        return [each.text for group in self._request.groups for each in group.entries("OverrideVpcConfig", field)]

    @cached_property
    def _request(self) -> EffectiveRequest:
        return EffectiveRequest(self.config)

    @cached_property
    def _log_group(self) -> str:
        """Return the ARN of HyperPod's log groups, whose names contain the cluster's name and ID."""
        return self.stack.format_arn(
            service="logs",
            resource="log-group",
            arn_format=cdk.ArnFormat.COLON_RESOURCE_NAME,
            resource_name=f"{NAMESPACE}/{cluster_names(self.config)}/*",
        )

    @cached_property
    def _interface(self) -> str:
        return self._ec2("network-interface", "*")

    @cached_property
    def _instance(self) -> str:
        return self._ec2("instance", "*", account="*")

    def _ec2(self, resource: str, name: str, account: str | None = None) -> str:
        return self.stack.format_arn(service="ec2", resource=resource, resource_name=name, account=account)
