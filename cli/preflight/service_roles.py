"""Check the service-linked roles."""

from collections.abc import Iterator
from functools import partial

from cli.aws_errors import unless_absent
from cli.preflight.account import Account
from cli.preflight.check import CheckResult, ok

# https://docs.aws.amazon.com/sagemaker/latest/dg/security-iam-awsmanpol-AmazonSageMakerHyperPodServiceRolePolicy.html
HYPERPOD = ("AWSServiceRoleForSageMakerHyperPod", "hyperpod.sagemaker.amazonaws.com")
# https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-service-linked-roles.html
FSX = ("AWSServiceRoleForAmazonFSx", "fsx.amazonaws.com")
# https://docs.aws.amazon.com/eks/latest/userguide/using-service-linked-roles-eks.html
EKS = ("AWSServiceRoleForAmazonEKS", "eks.amazonaws.com")


def service_roles(account: Account) -> Iterator[CheckResult]:
    """Check HyperPod's role, for a new file system FSx's, and for a new EKS cluster EKS's."""
    config = account.config
    others = [*([FSX] if config.storage.created_file_systems else []), *([EKS] if config.creates_eks_cluster else [])]
    for name, service in (HYPERPOD, *others):
        missing = f"does not exist yet: {service} creates it at the first use, which requires iam:CreateServiceLinkedRole"
        found = unless_absent(partial(account.client("iam").get_role, RoleName=name))
        yield ok(f"{name} {missing if found is None else 'exists'}")
