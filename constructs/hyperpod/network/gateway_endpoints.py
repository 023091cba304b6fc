"""Define gateway endpoints, which bypass the NAT gateway."""

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from constructs import Construct

# Nodes read from buckets of other accounts: package repositories, container layers, AWS services. Some of these reads are
# unsigned, so a policy cannot restrict their principal.
READS = {
    "s3": ["s3:GetObject*", "s3:GetBucketLocation", "s3:ListBucket*"],
    "dynamodb": ["dynamodb:BatchGetItem", "dynamodb:DescribeTable", "dynamodb:GetItem", "dynamodb:Query", "dynamodb:Scan"],
}


class GatewayEndpoints(Construct):
    """Define gateway endpoints for S3 and DynamoDB that allow writes only within this account."""

    def __init__(self, scope: Construct, id: str, *, vpc_id: str, route_table_id: str) -> None:
        super().__init__(scope, id)
        for name, service in (("S3", "s3"), ("DynamoDb", "dynamodb")):
            ec2.CfnVPCEndpoint(
                self,
                name,
                vpc_id=vpc_id,
                service_name=f"com.amazonaws.{cdk.Stack.of(self).region}.{service}",
                vpc_endpoint_type="Gateway",
                route_table_ids=[route_table_id],
                policy_document=_policy(service),
            )


def _policy(service: str) -> iam.PolicyDocument:
    return iam.PolicyDocument(
        statements=[
            iam.PolicyStatement(sid="AllowReads", principals=[iam.AnyPrincipal()], actions=READS[service], resources=["*"]),
            iam.PolicyStatement(
                sid="AllowSameAccountAccess",
                principals=[iam.AnyPrincipal()],
                actions=[f"{service}:*"],
                resources=["*"],
                conditions={"StringEquals": {"aws:ResourceAccount": cdk.Aws.ACCOUNT_ID}},
            ),
        ]
    )
