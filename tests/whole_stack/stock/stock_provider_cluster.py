"""The same cluster behind CDK's stock Provider, to compare ours with."""

from pathlib import Path

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import custom_resources as cr
from constructs import Construct

from cluster_request.request import RequestValues, cluster_request
from config.model import ClusterConfig
from constructs.hyperpod.lifecycle.lifecycle_scripts import LifecycleScripts
from constructs.hyperpod.network.network import Network

HANDLER = Path(__file__).parent / "handler"
# With what the service authorization reference names beside CreateCluster and UpdateCluster.
ACTIONS = [
    f"sagemaker:{name}"
    for name in (
        "AddTags",
        "BatchAddClusterNodes",
        "BatchDeleteClusterNodes",
        "CreateCluster",
        "DeleteCluster",
        "DescribeCluster",
        "ListClusterNodes",
        "ListTags",
        "UpdateCluster",
        "UpdateClusterSoftware",
    )
]


class StockProviderCluster(Construct):
    """Define a HyperPod cluster as most people write it, with all that it needs before it: `Provider` with two functions."""

    def __init__(
        self, scope: Construct, id: str, *, config: ClusterConfig, network: Network, scripts: LifecycleScripts, role: iam.IRole
    ) -> None:
        super().__init__(scope, id)
        values = RequestValues(
            execution_role_arn=role.role_arn,
            source_s3_uri=scripts.source_s3_uri,
            subnet_ids=network.node_subnet_ids,
            security_group_ids=[network.security_group_id],
        )
        provider = cr.Provider(
            self,
            "Provider",
            on_event_handler=self._function("OnEvent", "index.on_event", role),
            is_complete_handler=self._function("IsComplete", "index.is_complete", role),
            query_interval=cdk.Duration.seconds(30),
            total_timeout=cdk.Duration.minutes(45),
        )
        # Structures would arrive with every number as a string, so the request travels as text.
        request = cdk.Stack.of(self).to_json_string(cluster_request(config, values=values))
        resource = cdk.CustomResource(
            self,
            "Resource",
            resource_type="Custom::StockCluster",
            service_token=provider.service_token,
            properties={"ClusterName": config.name, "Request": request},
        )
        resource.node.add_dependency(provider, network, scripts, role)

    def _function(self, id: str, handler: str, role: iam.IRole) -> lambda_.Function:
        function = lambda_.Function(
            self,
            id,
            code=lambda_.Code.from_asset(str(HANDLER), exclude=["**/__pycache__"]),
            handler=handler,
            runtime=lambda_.Runtime.PYTHON_3_13,
            timeout=cdk.Duration.minutes(1),
        )
        function.add_to_role_policy(iam.PolicyStatement(actions=ACTIONS, resources=["*"]))
        role.grant_pass_role(function.grant_principal)
        return function
