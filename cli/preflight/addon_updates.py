"""Check that EKS can update the task governance add-on of a deployment to the version of its file."""

from collections.abc import Iterator

from botocore.exceptions import ClientError

from cli.aws_errors import is_absent
from cli.preflight.account import Account
from cli.preflight.check_result import CheckResult, error
from cluster_request.eks_addons import release
from config.eks import AddonName

STEPS = "https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-operate-console-ui-governance-upgrade.html"
LAST_OLD, FIRST_NEW = (1, 3), (1, 5)
"""Up to 1.3, Kueue stores objects in a form that 1.5 does not know, so a direct update fails."""


def addon_update(account: Account, name: AddonName, version: str) -> Iterator[CheckResult]:
    """Check that the update does not cross the change of Kueue's stored objects."""
    if name is not AddonName.TASK_GOVERNANCE or "Addons" not in account.stacks:
        return
    installed = installed_version(account, name)
    if installed and release(installed)[:2] <= LAST_OLD and release(version) >= FIRST_NEW:
        fix = f"follow AWS's steps, {STEPS}, or set `eks.addons.{name.value}.version` to `{installed}`"
        yield error(f"{name.value} has no direct update from {installed} to {version}", fix)


def installed_version(account: Account, name: AddonName) -> str:
    """Return the add-on's version in the EKS cluster, if it has the add-on."""
    cluster = str(account.config.eks_cluster_name)
    try:
        found = account.client("eks").describe_addon(clusterName=cluster, addonName=name.value)
    except ClientError as failure:
        if is_absent(failure):
            return ""
        raise
    return str(found["addon"]["addonVersion"])
