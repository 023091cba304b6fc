"""What HyperPod does with an execution role, and whether the role's trust and policies let it."""

from dataclasses import dataclass

from local_aws.hyperpod.model import Cluster
from local_aws.iam import role_allows, role_trusts
from local_aws.json_service import Context, Json

SERVICE = "sagemaker.amazonaws.com"


class MissingPermissionError(Exception):
    """The execution role may not do what HyperPod has to do with it."""

    def __init__(self, role_arn: str, action: str, resource: str) -> None:
        self.action = action
        super().__init__(f"The execution role {role_arn} does not have permission to perform: {action} on {resource}")


def is_assumable(account: str, role_arn: str) -> bool:
    """Tell whether SageMaker can take on the role.

    No aws:SourceAccount or aws:SourceArn is sent: nobody has shown that HyperPod sends them, so a trust policy that asks for
    them does not hold here.
    """
    return role_trusts(account, role_arn, SERVICE)


@dataclass(frozen=True)
class ExecutionRole:
    """A group's execution role, asked for one right after the other."""

    cluster: Cluster
    arn: str

    @classmethod
    def of(cls, cluster: Cluster, spec: Json) -> "ExecutionRole":
        """The execution role of an instance group."""
        return cls(cluster, spec["ExecutionRole"])

    def may(self, action: str, resource: str, context: Context | None = None) -> bool:
        """Tell whether SageMaker can take on the role and the role may do ``action``."""
        keys: Context = {"aws:RequestedRegion": self.cluster.region, **(context or {})}
        account = self.cluster.account
        return is_assumable(account, self.arn) and role_allows(account, self.arn, action, resource, keys)

    def must(self, action: str, resource: str, context: Context | None = None) -> None:
        """Refuse to go on where the role may not do ``action``."""
        if not self.may(action, resource, context):
            raise MissingPermissionError(self.arn, action, resource)
