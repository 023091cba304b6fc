"""Types of access entries, and their user names and groups in Kubernetes.

https://docs.aws.amazon.com/eks/latest/userguide/creating-access-entries.html
The user name of HYPERPOD_LINUX is not public; HYBRID_LINUX's is assumed.
"""

from collections.abc import Iterable

from local_aws.eks.errors import invalid
from local_aws.eks.principals import Caller

STANDARD = "STANDARD"
NODE_USERNAMES = {
    "EC2_LINUX": "system:node:{{EC2PrivateDNSName}}",
    "HYPERPOD_LINUX": "system:node:{{SessionName}}",
}
NODE_GROUPS = ("system:nodes",)
_RESERVED = ("system:", "eks:", "aws:", "amazon:", "iam:")


def check_username(username: str | None) -> None:
    """Refuse a reserved user name."""
    if username and username.startswith(_RESERVED):
        raise invalid(f"The username {username} cannot begin with {', '.join(_RESERVED)}")


def check_groups(groups: Iterable[str]) -> None:
    """Refuse reserved groups, which Kubernetes and EKS bind themselves."""
    for group in groups:
        if group.startswith(_RESERVED):
            raise invalid(f"The kubernetes group name {group} is invalid, it cannot start with {', '.join(_RESERVED)}")


def default_username(principal_arn: str) -> str:
    """Return the user name of a role's sessions or of a user, as EKS generates it."""
    if ":role/" not in principal_arn:
        return principal_arn
    head, _, name = principal_arn.replace(":iam::", ":sts::").partition(":role/")
    return f"{head}:assumed-role/{name.rsplit('/', 1)[-1]}/{{{{SessionName}}}}"


def fill_username(template: str, caller: Caller, private_dns_name: str) -> str:
    """Return the user name of a caller."""
    values = {
        "{{AccountID}}": caller.account,
        "{{SessionNameRaw}}": caller.session_name,
        "{{SessionName}}": caller.session_name.replace("@", "-"),
        "{{EC2PrivateDNSName}}": private_dns_name,
    }
    for name, value in values.items():
        template = template.replace(name, value)
    return template
