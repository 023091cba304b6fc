"""What nodes may do, and why."""

from dataclasses import dataclass
from functools import cached_property

import aws_cdk as cdk
from aws_cdk import aws_iam as iam

from config.model import ClusterConfig
from constructs.hyperpod.lifecycle_scripts import LifecycleScripts
from constructs.hyperpod.network import Network
from constructs.hyperpod.script_bucket import ScriptBucket

NAMESPACE = "/aws/sagemaker/Clusters"

# `make privilege` shows what fails without each other action. Nobody says when HyperPod's agents on the nodes need these;
# https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AmazonSageMakerClusterInstanceRolePolicy.html allows them.
UNSHOWN = {
    "cloudwatch:PutMetricData": "the agents that publish nodes' metrics are AWS's own",
    "logs:DescribeLogStreams": "the agent that writes nodes' logs is AWS's own",
}


@dataclass(frozen=True)
class NodePermissions:
    """The statements of a node role; each one's Sid says what it is for.

    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites-iam.html lists the actions, on ``*``.
    """

    stack: cdk.Stack
    config: ClusterConfig
    network: Network
    scripts: LifecycleScripts

    def statements(self) -> list[iam.PolicyStatement]:
        """All that a node may do."""
        return [
            *self._observability(),
            *self._scripts(),
            *self._making_interfaces(),
            *self._removing_interfaces(),
            *self._mounts(),
            *self._accounting(),
        ]

    def wildcards(self) -> dict[str, str]:
        """Why resources in the statements end in a wildcard."""
        return {
            self._log_group: "HyperPod makes the group; its name ends in an id that nobody knows before the cluster exists",
            f"{self._log_group}:log-stream:*": "streams are named after groups and instances, which come and go",
            self.scripts.bucket.scripts_arn: "each content has a prefix of its own; nodes started earlier read older ones",
            self._interface: "interfaces get their ids when nodes start; creating is limited to the cluster's subnets and group",
            self._instance: "instances belong to HyperPod's account; only interfaces of this account can be detached from them",
            "*": "PutMetricData (limited by its namespace), ssmmessages and the Describe actions know no resources",
        }

    def _observability(self) -> list[iam.PolicyStatement]:
        return [
            iam.PolicyStatement(sid="MakeTheLogGroup", actions=["logs:CreateLogGroup"], resources=[self._log_group]),
            iam.PolicyStatement(
                sid="WriteLogs",
                actions=["logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"],
                resources=[f"{self._log_group}:log-stream:*"],
            ),
            iam.PolicyStatement(
                sid="WriteMetrics",
                actions=["cloudwatch:PutMetricData"],
                resources=["*"],
                conditions={"StringEquals": {"cloudwatch:namespace": NAMESPACE}},
            ),
            iam.PolicyStatement(
                sid="LetOperatorsIn",
                actions=[
                    "ssmmessages:CreateControlChannel",
                    "ssmmessages:CreateDataChannel",
                    "ssmmessages:OpenControlChannel",
                    "ssmmessages:OpenDataChannel",
                ],
                resources=["*"],
            ),
        ]

    def _scripts(self) -> list[iam.PolicyStatement]:
        """Reading alone: who could write the scripts would be root on every node that starts later."""
        own_account = {"aws:ResourceAccount": cdk.Aws.ACCOUNT_ID}
        return [
            iam.PolicyStatement(
                sid="ReadScripts",
                actions=["s3:GetObject"],
                resources=[self.scripts.bucket.scripts_arn],
                conditions={"StringEquals": own_account},
            ),
            iam.PolicyStatement(
                sid="ListScripts",
                actions=["s3:ListBucket"],
                resources=[self.scripts.bucket.bucket_arn],
                conditions={"StringEquals": own_account, "StringLike": {"s3:prefix": f"{ScriptBucket.FOLDER}/*"}},
            ),
        ]

    def _making_interfaces(self) -> list[iam.PolicyStatement]:
        """Nodes run in HyperPod's account and have their interfaces in ours; HyperPod makes and removes them in this role."""
        networks = [group.overrides.get("OverrideVpcConfig") or {} for group in self.config.instance_groups]
        subnets = [*self.network.node_subnet_ids, *(each for network in networks for each in network.get("Subnets", ()))]
        groups = [self.network.security_group_id, *(each for network in networks for each in network.get("SecurityGroupIds", ()))]
        places = [*(self._ec2("subnet", each) for each in subnets), *(self._ec2("security-group", each) for each in groups)]
        return [
            iam.PolicyStatement(
                sid="MakeInterfacesInTheClustersSubnets",
                actions=["ec2:CreateNetworkInterface"],
                resources=[self._interface, *dict.fromkeys(places)],
            ),
            iam.PolicyStatement(
                sid="NameNewInterfaces",
                actions=["ec2:CreateTags"],
                resources=[self._interface],
                conditions={"StringEquals": {"ec2:CreateAction": "CreateNetworkInterface"}},
            ),
        ]

    def _removing_interfaces(self) -> list[iam.PolicyStatement]:
        """What HyperPod does to interfaces that there are, and what it reads to find them."""
        return [
            iam.PolicyStatement(
                sid="LendAndRemoveInterfaces",
                actions=[
                    "ec2:CreateNetworkInterfacePermission",
                    "ec2:DeleteNetworkInterface",
                    "ec2:DeleteNetworkInterfacePermission",
                    "ec2:DetachNetworkInterface",
                ],
                resources=[self._interface],
            ),
            iam.PolicyStatement(
                sid="DetachInterfacesFromNodes", actions=["ec2:DetachNetworkInterface"], resources=[self._instance]
            ),
            iam.PolicyStatement(
                sid="LookAtTheNetwork",
                actions=[
                    "ec2:DescribeDhcpOptions",
                    "ec2:DescribeNetworkInterfaces",
                    "ec2:DescribeSecurityGroups",
                    "ec2:DescribeSubnets",
                    "ec2:DescribeVpcs",
                ],
                resources=["*"],
            ),
        ]

    def _mounts(self) -> list[iam.PolicyStatement]:
        """Our scripts mount by name; HyperPod looks up what a group's own InstanceStorageConfigs name."""
        storage = [each for group in self.config.instance_groups for each in group.overrides.get("InstanceStorageConfigs") or ()]
        if not any(kind.startswith("Fsx") for each in storage for kind in each):
            return []
        return [iam.PolicyStatement(sid="LookAtTheFileSystem", actions=["fsx:DescribeFileSystems"], resources=["*"])]

    def _accounting(self) -> list[iam.PolicyStatement]:
        """The password of an external accounting database, which the controller reads."""
        accounting = self.config.slurm.accounting
        statements = []
        if accounting.secret_arn:
            sid, actions = "ReadTheAccountingDatabasesPassword", ["secretsmanager:GetSecretValue"]
            statements.append(iam.PolicyStatement(sid=sid, actions=actions, resources=[accounting.secret_arn]))
        if accounting.secret_key_arn:
            by_secrets_manager = f"secretsmanager.{accounting.secret_key_arn.split(':')[3]}.amazonaws.com"
            statements.append(
                iam.PolicyStatement(
                    sid="DecryptTheAccountingDatabasesPassword",
                    actions=["kms:Decrypt"],
                    resources=[accounting.secret_key_arn],
                    conditions={"StringEquals": {"kms:ViaService": by_secrets_manager}},
                )
            )
        return statements

    @cached_property
    def _log_group(self) -> str:
        """HyperPod's log group: the cluster's name and id; a generated name begins with the file's."""
        return self.stack.format_arn(
            service="logs",
            resource="log-group",
            arn_format=cdk.ArnFormat.COLON_RESOURCE_NAME,
            resource_name=f"{NAMESPACE}/{self.config.cluster_name or f'{self.config.name}-*'}/*",
        )

    @cached_property
    def _interface(self) -> str:
        return self._ec2("network-interface", "*")

    @cached_property
    def _instance(self) -> str:
        return self._ec2("instance", "*", account="*")

    def _ec2(self, resource: str, name: str, account: str | None = None) -> str:
        return self.stack.format_arn(service="ec2", resource=resource, resource_name=name, account=account)
