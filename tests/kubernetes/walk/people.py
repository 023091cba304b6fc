"""The API server of a deployed EKS cluster, as people with IAM roles use it."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from local_aws.kubernetes.client import Client as KubernetesClient
from local_aws.testing import ACCOUNT, Client
from tests.simulator.eks.tokens import token
from tests.simulator.eks.world import trust


@dataclass(frozen=True)
class People:
    """IAM roles of an account, and the EKS cluster that they use."""

    client: Client
    cluster: str
    folder: Path

    def add(self, name: str) -> str:
        """Create a role that people can assume, and return its ARN."""
        self.client("iam").create_role(RoleName=name, AssumeRolePolicyDocument=trust("ec2.amazonaws.com"))
        return f"arn:aws:iam::{ACCOUNT}:role/{name}"

    def api(self, role: str) -> KubernetesClient:
        """Return a client of the API server with a token of the role."""
        arn = f"arn:aws:iam::{ACCOUNT}:role/{role}"
        made: Mapping[str, str] = self.client("sts").assume_role(RoleArn=arn, RoleSessionName="alice")["Credentials"]
        keys = {
            "aws_access_key_id": made["AccessKeyId"],
            "aws_secret_access_key": made["SecretAccessKey"],
            "aws_session_token": made["SessionToken"],
        }
        cluster = self.client("eks").describe_cluster(name=self.cluster)["cluster"]
        authority = self.folder / "ca.pem"
        authority.write_bytes(base64.b64decode(cluster["certificateAuthority"]["data"]))
        return KubernetesClient(cluster["endpoint"], authority, token=token(keys, cluster=self.cluster))
