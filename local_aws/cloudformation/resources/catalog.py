"""All resource types of the embedded CloudFormation."""

from local_aws.cloudformation.resources import (
    cdk,
    chatbot,
    cloudwatch,
    ec2_endpoints,
    ec2_network,
    ec2_routing,
    ec2_security,
    ecr,
    eks,
    eks_access,
    events,
    fsx,
    iam,
    kms,
    lambda_,
    logs,
    register,
    s3,
    sns,
    ssm,
    states,
)

MODULES = (
    cdk,
    chatbot,
    cloudwatch,
    ec2_endpoints,
    ec2_network,
    ec2_routing,
    ec2_security,
    ecr,
    eks,
    eks_access,
    events,
    fsx,
    iam,
    kms,
    lambda_,
    logs,
    s3,
    sns,
    ssm,
    states,
)


def register_all() -> None:
    """Register every type."""
    for module in MODULES:
        register(module.PROVIDERS)
