"""Ask the embedded SageMaker whether it accepts the request of a cluster file."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from botocore.exceptions import ClientError, ParamValidationError

from cluster_request.request import Request, RequestValues, cluster_request
from config.model import ClusterConfig
from local_aws import durations, hyperpod
from local_aws.eks import model as eks
from local_aws.hyperpod.eks_checks import AUTOSCALER
from local_aws.testing import Client

# The embedded AWS's error for features that it does not have.
NOT_MODELLED = "is not part of the embedded AWS"
NEVER_S = 1e9


@dataclass(frozen=True)
class SageMaker:
    """An account with a network and a role, where created clusters never start."""

    client: Any
    values: RequestValues
    eks_cluster: eks.Cluster

    @classmethod
    def of(cls, client: Client) -> "SageMaker":
        """Create the resources that every cluster needs."""
        ec2 = client("ec2")
        vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
        subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.0.0.0/16")["Subnet"]["SubnetId"]
        group = ec2.create_security_group(VpcId=vpc, GroupName="cluster", Description="cluster")["GroupId"]
        services = ["sagemaker.amazonaws.com", AUTOSCALER]
        trust = {"Effect": "Allow", "Principal": {"Service": services}, "Action": "sts:AssumeRole"}
        document = json.dumps({"Version": "2012-10-17", "Statement": [trust]})
        role = client("iam").create_role(RoleName="nodes", AssumeRolePolicyDocument=document)["Role"]["Arn"]
        values = RequestValues(role, "s3://sagemaker-scripts/lifecycle/1/", [subnet], [group])
        own = ec2.create_security_group(VpcId=vpc, GroupName="eks", Description="eks")["GroupId"]
        network = {"vpcId": vpc, "clusterSecurityGroupId": own}
        return cls(client("sagemaker"), values, _eks_cluster(network, role.split(":")[4], ec2.meta.region_name))

    def rejection(self, config: ClusterConfig) -> str | None:
        """Return why the request is rejected, or None."""
        values = self.values
        if config.eks:
            values = replace(values, eks_cluster_arn=self.eks_cluster.arn, autoscaler_role_arn=values.execution_role_arn)
        request = {"ClusterName": config.cluster_name or config.name, **cluster_request(config, values=values)}
        self.eks_cluster.entries.clear()
        durations.change({"hyperpod.create.launch": NEVER_S})
        try:
            self.client.create_cluster(**self._of_the_account(request))
        except (ClientError, ParamValidationError) as error:
            return str(error)
        finally:
            hyperpod.reset()
        return None

    def _of_the_account(self, request: Request) -> Request:
        """Return the request with the account's subnet, security group and role, even if `overrides` set others."""
        own = {
            "Subnets": list(self.values.subnet_ids),
            "SecurityGroupIds": list(self.values.security_group_ids),
            "ExecutionRole": self.values.execution_role_arn,
        }
        placed: Request = _replaced(request, own)
        return placed


def _eks_cluster(network: dict[str, str], account: str, region: str) -> eks.Cluster:
    """Add an active EKS cluster without a control plane."""
    cluster = eks.Cluster(
        account=account,
        region=region,
        partition="aws",
        name="changed-files",
        arn=f"arn:aws:eks:{region}:{account}:cluster/changed-files",
        request={},
        settings={"accessConfig": {"authenticationMode": "API"}, "resourcesVpcConfig": network, "version": "1.34"},
        tags={},
        interfaces=[],
        status="ACTIVE",
    )
    eks.add(cluster)
    return cluster


def _replaced(value: Any, own: Mapping[str, object]) -> Any:
    if isinstance(value, dict):
        return {key: own.get(key, _replaced(item, own)) for key, item in value.items()}
    return [_replaced(item, own) for item in value] if isinstance(value, list) else value
