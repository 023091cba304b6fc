"""The administrator of the demo's EKS cluster: an IAM role, because the owner of the account has no access to Kubernetes."""

import json
from typing import Any

import boto3

from config.model import ClusterConfig
from local_aws import process
from local_aws.assumed_role import as_role
from local_aws.demo.step import Environment
from local_aws.environment import shield
from local_aws.server import ACCOUNT

ROLE = "PlatformAdmin"
ARN = f"arn:aws:iam::{ACCOUNT}:role/{ROLE}"
_ACCESS = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"
_TRUST = {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"AWS": f"arn:aws:iam::{ACCOUNT}:root"}}
_TRUST_POLICY = json.dumps({"Version": "2012-10-17", "Statement": [_TRUST]})


def assume(config: ClusterConfig, environment: dict[str, str]) -> dict[str, str]:
    """Create the administrator and the IAM principals that the file names; return the administrator's environment."""
    iam = _client("iam", environment)
    named = [arn for _, arn in config.eks.principals()] if config.eks else []
    for arn in dict.fromkeys(each for each in (ARN, *named) if f"::{ACCOUNT}:" in each):
        kind, *folders, name = arn.rpartition(":")[2].split("/")
        path = "/".join(["", *folders, ""])
        if kind == "user":
            iam.create_user(UserName=name, Path=path)
        else:
            iam.create_role(RoleName=name, Path=path, AssumeRolePolicyDocument=_TRUST_POLICY)
            policy = "AdministratorAccess" if arn == ARN else "ReadOnlyAccess"
            iam.attach_role_policy(RoleName=name, PolicyArn=f"arn:aws:iam::aws:policy/{policy}")
    return as_role(environment, ROLE, process.home())


def grant(config: ClusterConfig, environment: Environment) -> None:
    """Give the administrator access to the deployed EKS cluster, unless the file does."""
    if config.eks is None or ARN in config.eks.admins:
        return
    eks, entry = _client("eks", environment), {"clusterName": config.name, "principalArn": ARN}
    eks.create_access_entry(**entry)
    eks.associate_access_policy(**entry, policyArn=_ACCESS, accessScope={"type": "cluster"})


def _client(service: str, environment: Environment) -> Any:
    with shield(process.home()):
        return boto3.client(
            service,
            region_name=environment["AWS_REGION"],
            endpoint_url=environment["AWS_ENDPOINT_URL"],
            aws_access_key_id=environment["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=environment["AWS_SECRET_ACCESS_KEY"],
            aws_session_token=environment.get("AWS_SESSION_TOKEN"),
        )
