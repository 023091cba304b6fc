"""Limits of AWS's services that moto does not have: by operation and member, in bytes, items or characters."""

from local_aws.errors import AwsError

LIMITS = {
    # https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html
    ("cloudformation:CreateChangeSet", "templateBody"): 51_200,
    ("cloudformation:CreateChangeSet", "templateURL"): 1_000_000,
    # https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
    ("lambda:InvokeAsync", "payload"): 1_048_576,
    # https://docs.aws.amazon.com/general/latest/gr/ssm.html
    ("ssm:PutParameter", "value"): 4_096,
    # https://docs.aws.amazon.com/step-functions/latest/apireference/API_ListExecutions.html
    ("states:GetExecutionHistory", "maxResults"): 1_000,
    ("states:ListExecutions", "maxResults"): 1_000,
    ("states:StartExecution", "input"): 262_144,
    # https://docs.aws.amazon.com/step-functions/latest/dg/eventbridge-integration.html
    ("states:Event", "input and output"): 253_952,
}


def exceeds(operation: str, member: str, size: float) -> bool:
    """Return whether a member of a request is too large."""
    return size > LIMITS[operation, member]


def require(operation: str, member: str, size: float, code: str = "ValidationException") -> None:
    """Refuse a request whose member is too large."""
    if exceeds(operation, member, size):
        what = "value" if member == "maxResults" else "length"
        constraint = f"Member must have {what} less than or equal to {LIMITS[operation, member]}"
        raise AwsError(code, f"1 validation error detected: Value at '{member}' failed to satisfy constraint: {constraint}")
