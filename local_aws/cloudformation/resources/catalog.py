"""All resource types that the embedded CloudFormation has."""

from local_aws.cloudformation.resources import (
    cdk,
    ec2_endpoints,
    ec2_network,
    ec2_routing,
    ec2_security,
    ecr,
    events,
    fsx,
    iam,
    kms,
    lambda_,
    logs,
    register,
    s3,
    ssm,
    states,
)

MODULES = (
    cdk,
    ec2_endpoints,
    ec2_network,
    ec2_routing,
    ec2_security,
    ecr,
    events,
    fsx,
    iam,
    kms,
    lambda_,
    logs,
    s3,
    ssm,
    states,
)


def register_all() -> None:
    """Have every type ready."""
    for module in MODULES:
        register(module.PROVIDERS)
