"""In which region a command asks AWS."""

import os


def asked_region(named: str | None) -> str | None:
    """The region that the file or an option names, or else AWS_REGION; None leaves it to AWS_DEFAULT_REGION and the profile.

    The AWS CLI and the CDK take AWS_REGION first, and boto3 does not look at it:
    https://docs.aws.amazon.com/sdkref/latest/guide/feature-region.html
    """
    return named or os.environ.get("AWS_REGION") or None
