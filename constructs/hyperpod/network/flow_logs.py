"""Define the flow logs of a VPC."""

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from constructs import Construct


class FlowLogs(Construct):
    """Define flow logs of all traffic in a VPC, in a dedicated log group."""

    def __init__(self, scope: Construct, id: str, *, vpc_id: str, retention_days: int) -> None:
        super().__init__(scope, id)
        group = logs.CfnLogGroup(self, "LogGroup", retention_in_days=retention_days)
        group.apply_removal_policy(cdk.RemovalPolicy.DESTROY)
        role = iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal(
                "vpc-flow-logs.amazonaws.com", conditions={"StringEquals": {"aws:SourceAccount": cdk.Aws.ACCOUNT_ID}}
            ),
            inline_policies={
                "WriteFlowLogs": iam.PolicyDocument(
                    statements=[
                        iam.PolicyStatement(
                            sid="WriteFlowLogs",
                            actions=["logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"],
                            resources=[group.attr_arn],
                        )
                    ]
                )
            },
        )
        ec2.CfnFlowLog(
            self,
            "Resource",
            resource_id=vpc_id,
            resource_type="VPC",
            traffic_type="ALL",
            log_group_name=group.ref,
            deliver_logs_permission_arn=role.role_arn,
        )
