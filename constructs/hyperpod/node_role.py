"""What the nodes may do: the execution role of every instance group."""

from aws_cdk import Aws
from aws_cdk import aws_iam as iam
from constructs import Construct

from constructs.hyperpod.acknowledge import acknowledge_wildcards
from constructs.hyperpod.network import Network

CLUSTER_LOGS = f"arn:{Aws.PARTITION}:logs:{Aws.REGION}:{Aws.ACCOUNT_ID}:log-group:/aws/sagemaker/Clusters/*"
EC2 = f"arn:{Aws.PARTITION}:ec2:{Aws.REGION}:{Aws.ACCOUNT_ID}"
INTERFACES = f"{EC2}:network-interface/*"


class NodeRole(Construct):
    """Define the role that HyperPod's nodes run as, each statement as narrow as HyperPod allows.

    The managed policy AmazonSageMakerClusterInstanceRolePolicy is not attached, as it lets every node read every bucket of the
    account whose name starts with `sagemaker-`; its other statements are here. HyperPod also takes the nodes' network interfaces
    away with this role: without it, or its policy, a cluster stays in Deleting for ever.
    """

    def __init__(self, scope: Construct, id: str, *, network: Network, trust_source_account: bool) -> None:
        super().__init__(scope, id)
        conditions = {"StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID}} if trust_source_account else {}
        self.role = iam.Role(
            self,
            "Resource",
            assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com", conditions=conditions),
            description="Nodes of a HyperPod cluster",
        )
        for statement in (*_observability(), *_session_manager(), *_network_interfaces(network), _file_systems()):
            self.role.add_to_policy(statement)
        acknowledge_wildcards(
            self.role,
            {
                "*": "cloudwatch:PutMetricData (bound to HyperPod's namespace), ssmmessages, ec2:Describe* and "
                "fsx:DescribeFileSystems take no narrower resource",
                CLUSTER_LOGS: "HyperPod names a log group after the cluster's id, which nobody knows before",
                f"{CLUSTER_LOGS}:log-stream:*": "the same, with a stream per node",
                INTERFACES: "HyperPod makes the nodes' interfaces, with ids that nobody knows before",
            },
        )

    @property
    def role_arn(self) -> str:
        """The role's ARN."""
        return self.role.role_arn

    def grant_pass_to_sagemaker(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let ``grantee`` hand this role, and no other, to SageMaker, and to no other service."""
        return iam.Grant.add_to_principal(
            grantee=grantee,
            actions=["iam:PassRole"],
            resource_arns=[self.role_arn],
            conditions={"StringEquals": {"iam:PassedToService": "sagemaker.amazonaws.com"}},
        )


def _observability() -> tuple[iam.PolicyStatement, ...]:
    return (
        iam.PolicyStatement(
            sid="WriteClusterLogs",
            actions=["logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"],
            resources=[f"{CLUSTER_LOGS}:log-stream:*"],
        ),
        iam.PolicyStatement(sid="CreateClusterLogGroup", actions=["logs:CreateLogGroup"], resources=[CLUSTER_LOGS]),
        iam.PolicyStatement(
            sid="PutClusterMetrics",
            actions=["cloudwatch:PutMetricData"],
            resources=["*"],
            conditions={"StringEquals": {"cloudwatch:namespace": "/aws/sagemaker/Clusters"}},
        ),
    )


def _session_manager() -> tuple[iam.PolicyStatement, ...]:
    channels = ("CreateControlChannel", "CreateDataChannel", "OpenControlChannel", "OpenDataChannel")
    actions = [f"ssmmessages:{action}" for action in channels]
    return (iam.PolicyStatement(sid="GiveShells", actions=actions, resources=["*"]),)


def _network_interfaces(network: Network) -> tuple[iam.PolicyStatement, ...]:
    """HyperPod puts the nodes' interfaces into our VPC, and takes them away again, as this role."""
    described = ("DhcpOptions", "NetworkInterfaces", "SecurityGroups", "Subnets", "Vpcs")
    changes = (
        "CreateNetworkInterfacePermission",
        "DeleteNetworkInterface",
        "DeleteNetworkInterfacePermission",
        "DetachNetworkInterface",
    )
    return (
        iam.PolicyStatement(sid="SeeTheNetwork", actions=[f"ec2:Describe{thing}" for thing in described], resources=["*"]),
        iam.PolicyStatement(
            sid="CreateInterfacesHereAlone",
            actions=["ec2:CreateNetworkInterface"],
            resources=[
                INTERFACES,
                *(f"{EC2}:subnet/{subnet_id}" for subnet_id in network.node_subnet_ids),
                f"{EC2}:security-group/{network.security_group_id}",
            ],
        ),
        iam.PolicyStatement(sid="ChangeInterfaces", actions=[f"ec2:{change}" for change in changes], resources=[INTERFACES]),
        iam.PolicyStatement(
            sid="TagInterfacesWhenCreated",
            actions=["ec2:CreateTags"],
            resources=[INTERFACES],
            conditions={"StringEquals": {"ec2:CreateAction": "CreateNetworkInterface"}},
        ),
    )


def _file_systems() -> iam.PolicyStatement:
    return iam.PolicyStatement(sid="FindTheFileSystem", actions=["fsx:DescribeFileSystems"], resources=["*"])
