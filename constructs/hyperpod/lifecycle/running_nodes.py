"""Define how running nodes follow the cluster file: a pointer to their scripts, and a log group for their reports."""

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct

from config.model import ClusterConfig
from config.operation_names import bundle_parameter, node_log_group
from constructs.hyperpod.statement import allow


class RunningNodes(Construct):
    """Define the log group of the nodes' reports and the key of the pointer, an SSM parameter that only the deployment writes.

    The parameter is no resource of the stack, because Custom::HyperPodRollout advances it several times during one update.
    """

    def __init__(self, scope: Construct, id: str, *, config: ClusterConfig) -> None:
        super().__init__(scope, id)
        self.parameter_name = bundle_parameter(config.name)
        self._parameter_arn = cdk.Stack.of(self).format_arn(
            service="ssm", resource="parameter", resource_name=self.parameter_name.removeprefix("/")
        )
        # Always deleted: its fixed name would block a later deployment of the same file, and reports only matter while nodes run.
        self.log_group = logs.LogGroup(
            self,
            "Reports",
            log_group_name=node_log_group(config.name),
            retention=logs.RetentionDays.THREE_MONTHS,
            removal_policy=cdk.RemovalPolicy.DESTROY,
        )

        self.key = kms.Key(
            self,
            "BundleKey",
            description=f"Signs the scripts of running nodes of HyperPod cluster {config.name}",
            key_spec=kms.KeySpec.RSA_3072,
            key_usage=kms.KeyUsage.SIGN_VERIFY,
            removal_policy=cdk.RemovalPolicy.DESTROY,
            pending_window=cdk.Duration.days(7),
        )

    def restrict_signing(self, role_arn: str) -> None:
        """Deny signing to all other principals: many policies allow all actions of KMS."""
        self.key.add_to_resource_policy(
            iam.PolicyStatement(
                sid="DenySigningByOthers",
                effect=iam.Effect.DENY,
                principals=[iam.AnyPrincipal()],
                actions=["kms:Sign"],
                resources=["*"],
                conditions={"ArnNotEquals": {"aws:PrincipalArn": role_arn}},
            )
        )

    def node_statements(self) -> list[iam.PolicyStatement]:
        """Allow nodes to read the pointer and to report, and deny writing the pointer: its scripts run as root on all nodes."""
        return [
            allow("ReadBundlePointer", self._parameter_arn, "ssm:GetParameter"),
            iam.PolicyStatement(
                # Policies of the cluster file may allow all of ssm.
                sid="DenyChangesOfBundlePointer",
                effect=iam.Effect.DENY,
                actions=["ssm:DeleteParameter", "ssm:DeleteParameters", "ssm:PutParameter"],
                resources=[self._parameter_arn],
            ),
            allow("WriteReports", self.log_group.log_group_arn, "logs:CreateLogStream", "logs:PutLogEvents"),
        ]

    def statements(self) -> list[iam.PolicyStatement]:
        """Allow the deployment to move the pointer and to read the reports."""
        return [
            allow("MoveBundlePointer", self._parameter_arn, "ssm:GetParameter", "ssm:PutParameter"),
            allow("SignBundlePointer", self.key.key_arn, "kms:GetPublicKey", "kms:Sign"),
            allow("ReadReports", self.log_group.log_group_arn, "logs:FilterLogEvents"),
        ]

    def wildcards(self) -> dict[str, str]:
        """Return the reason for each wildcard in the statements: there is none."""
        return {}
