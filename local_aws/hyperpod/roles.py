"""HyperPod's use of an execution role, and whether the role's trust and policies allow it."""

from dataclasses import dataclass

from local_aws.hyperpod.model import Cluster
from local_aws.iam import role_allows, role_trusts
from local_aws.json_service import Context, Json

SERVICE = "sagemaker.amazonaws.com"


class MissingPermissionError(Exception):
    """The execution role lacks a permission that HyperPod needs."""

    def __init__(self, role_arn: str, action: str, resource: str) -> None:
        self.action = action
        super().__init__(f"The execution role {role_arn} does not have permission to perform: {action} on {resource}")


def is_assumable(account: str, role_arn: str) -> bool:
    """Return whether SageMaker can assume the role.

    No aws:SourceAccount or aws:SourceArn is sent: there is no evidence that HyperPod sends them, so a trust policy that requires
    them refuses SageMaker here.
    """
    return role_trusts(account, role_arn, SERVICE)


@dataclass(frozen=True)
class ExecutionRole:
    """A group's execution role, and checks of its permissions."""

    cluster: Cluster
    arn: str

    @classmethod
    def of(cls, cluster: Cluster, spec: Json) -> "ExecutionRole":
        """Return the execution role of an instance group."""
        return cls(cluster, spec["ExecutionRole"])

    def may(self, action: str, resource: str, context: Context | None = None) -> bool:
        """Return whether SageMaker can assume the role and the role allows ``action``."""
        keys: Context = {"aws:RequestedRegion": self.cluster.region, **(context or {})}
        account = self.cluster.account
        return is_assumable(account, self.arn) and role_allows(account, self.arn, action, resource, keys)

    def must(self, action: str, resource: str, context: Context | None = None) -> None:
        """Raise MissingPermissionError unless the role allows ``action``."""
        if not self.may(action, resource, context):
            raise MissingPermissionError(self.arn, action, resource)
