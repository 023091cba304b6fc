"""The ways to S3 and DynamoDB that do not pass the NAT gateway."""

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from constructs import Construct

# Nodes read from buckets that are not ours: package repositories, container layers, the services' own. Some of those reads are
# not signed, so that they have no principal to name.
READS = {
    "s3": ["s3:GetObject*", "s3:GetBucketLocation", "s3:ListBucket*"],
    "dynamodb": ["dynamodb:BatchGetItem", "dynamodb:DescribeTable", "dynamodb:GetItem", "dynamodb:Query", "dynamodb:Scan"],
}


class GatewayEndpoints(Construct):
    """Define gateway endpoints for S3 and DynamoDB, through which nothing is written outside this account."""

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
            iam.PolicyStatement(sid="ReadAnywhere", principals=[iam.AnyPrincipal()], actions=READS[service], resources=["*"]),
            iam.PolicyStatement(
                sid="DoAnythingInThisAccount",
                principals=[iam.AnyPrincipal()],
                actions=[f"{service}:*"],
                resources=["*"],
                conditions={"StringEquals": {"aws:ResourceAccount": cdk.Aws.ACCOUNT_ID}},
            ),
        ]
    )
