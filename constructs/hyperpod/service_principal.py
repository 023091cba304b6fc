"""Define service principals of trust policies that AWS documents conditions for."""

import aws_cdk as cdk
from aws_cdk import aws_iam as iam


def service_principal(service: str, *, source_arn: str | None = None) -> iam.ServicePrincipal:
    """Return the service, for requests of this account and for resources that match ``source_arn``.

    Only for services whose guide says that they send these keys, or they could not use the role. No guide says so of Lambda, and
    IAM does not pass a role to a service in another account.

    states: https://docs.aws.amazon.com/step-functions/latest/dg/procedure-create-iam-role.html
    eks: https://docs.aws.amazon.com/eks/latest/userguide/cross-service-confused-deputy-prevention.html
    vpc-flow-logs: https://docs.aws.amazon.com/vpc/latest/userguide/flow-logs-iam-role.html
    """
    account: dict[str, object] = {"StringEquals": {"aws:SourceAccount": cdk.Aws.ACCOUNT_ID}}
    return iam.ServicePrincipal(service, conditions=account | ({"ArnLike": {"aws:SourceArn": source_arn}} if source_arn else {}))
