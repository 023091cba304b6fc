"""What nodes may do, and why."""

from dataclasses import dataclass
from functools import cached_property

import aws_cdk as cdk
from aws_cdk import aws_iam as iam

from config.model import ClusterConfig
from constructs.hyperpod.cluster.generated_names import names_of_clusters
from constructs.hyperpod.fingerprint import fingerprint
from constructs.hyperpod.lifecycle.lifecycle_scripts import LifecycleScripts
from constructs.hyperpod.network.network import Network

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
        """All that a node may do, but for the interfaces that exist."""
        return [
            *self._observability(),
            *self._scripts(),
            *self._making_interfaces(),
            *self._looking_at_the_network(),
            *self._mounts(),
            *self._accounting(),
        ]

    def interfaces(self) -> iam.PolicyStatement:
        """What HyperPod does, in the nodes' role, to the interfaces that exist in the cluster's subnets.

        https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonec2.html lists ec2:Subnet for each of these.
        A subnet's id is unique, and a shared subnet's ARN has its owner's account: so any account.
        """
        return iam.PolicyStatement(
            sid="ManageNetworkInterfaces",
            actions=[
                "ec2:CreateNetworkInterfacePermission",
                "ec2:DeleteNetworkInterface",
                "ec2:DeleteNetworkInterfacePermission",
                "ec2:DetachNetworkInterface",
            ],
            resources=[self._interface],
            conditions={"ArnEquals": {"ec2:Subnet": [self._ec2("subnet", each, account="*") for each in self._subnets]}},
        )

    @property
    def subnets_identity(self) -> str:
        """A hash that changes with the subnets that ``interfaces`` names."""
        return fingerprint(self.network.identity, *self._own_networks("Subnets"))

    def wildcards(self) -> dict[str, str]:
        """Why resources in the statements end in a wildcard."""
        groups = {
            name: reason
            for group in self._log_groups
            for name, reason in (
                (group, "HyperPod makes the group; its name ends in an id that nobody knows before the cluster exists"),
                (f"{group}:log-stream:*", "streams are named after groups and instances, which come and go"),
            )
        }
        return {
            **groups,
            self.scripts.bucket.scripts_arn: "each content has a prefix of its own; nodes started earlier read older ones",
            **self.interface_wildcard(),
            self._instance: "instances belong to HyperPod's account; only the cluster's interfaces can be detached from them",
            "*": "PutMetricData (limited by its namespace), ssmmessages and the Describe actions know no resources",
        }

    def interface_wildcard(self) -> dict[str, str]:
        """Why the statements on interfaces name all of them."""
        return {self._interface: "interfaces get ids when nodes start; all but tagging is limited to the cluster's subnets"}

    def _observability(self) -> list[iam.PolicyStatement]:
        return [
            iam.PolicyStatement(sid="MakeTheLogGroup", actions=["logs:CreateLogGroup"], resources=self._log_groups),
            iam.PolicyStatement(
                sid="WriteLogs",
                actions=["logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"],
                resources=[f"{group}:log-stream:*" for group in self._log_groups],
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
                conditions={"StringEquals": own_account},
            ),
        ]

    def _making_interfaces(self) -> list[iam.PolicyStatement]:
        """Nodes run in HyperPod's account and have their interfaces in ours; HyperPod makes and removes them in this role."""
        groups = [self.network.security_group_id, *self._own_networks("SecurityGroupIds")]
        places = [
            *(self._ec2("subnet", each) for each in self._subnets),
            *(self._ec2("security-group", each) for each in groups),
        ]
        return [
            iam.PolicyStatement(
                sid="MakeInterfacesInTheClustersSubnets",
                actions=["ec2:CreateNetworkInterface"],
                resources=[self._interface, *dict.fromkeys(places)],
            ),
            # Without ec2:CreateAction, as AWS's own policies have it: HyperPod may tag in a call of its own.
            iam.PolicyStatement(sid="TagNetworkInterfaces", actions=["ec2:CreateTags"], resources=[self._interface]),
            # Detaching needs the right to both; the interface's half is limited to the cluster's subnets.
            iam.PolicyStatement(
                sid="DetachInterfacesFromNodes", actions=["ec2:DetachNetworkInterface"], resources=[self._instance]
            ),
        ]

    def _looking_at_the_network(self) -> list[iam.PolicyStatement]:
        """What HyperPod reads to find interfaces and where to make them."""
        return [
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
    def _subnets(self) -> list[str]:
        """The subnets of all groups."""
        return [*self.network.node_subnet_ids, *self._own_networks("Subnets")]

    def _own_networks(self, field: str) -> list[str]:
        """The ids in the field of those groups' networks that have one of their own."""
        networks = [group.overrides.get("OverrideVpcConfig") or {} for group in self.config.instance_groups]
        return [each for network in networks for each in network.get(field, ())]

    @cached_property
    def _log_groups(self) -> list[str]:
        """HyperPod's log groups: a cluster's name and id."""
        return [
            self.stack.format_arn(
                service="logs",
                resource="log-group",
                arn_format=cdk.ArnFormat.COLON_RESOURCE_NAME,
                resource_name=f"{NAMESPACE}/{name}/*",
            )
            for name in names_of_clusters(self.config, self.network)
        ]

    @cached_property
    def _interface(self) -> str:
        return self._ec2("network-interface", "*")

    @cached_property
    def _instance(self) -> str:
        return self._ec2("instance", "*", account="*")

    def _ec2(self, resource: str, name: str, account: str | None = None) -> str:
        return self.stack.format_arn(service="ec2", resource=resource, resource_name=name, account=account)
