"""An environment with the credentials of an IAM role of the embedded AWS."""

from pathlib import Path

import boto3
from botocore.exceptions import ClientError

from local_aws.environment import shield
from local_aws.process import ProcessError

_SESSION = "local-aws"


def as_role(environment: dict[str, str], name: str, home: Path) -> dict[str, str]:
    """Return ``environment``, which has the owner's keys, with those of a session of the role called ``name``."""
    with shield(home):
        session = boto3.Session(environment["AWS_ACCESS_KEY_ID"], environment["AWS_SECRET_ACCESS_KEY"])
        place = {"region_name": environment["AWS_REGION"], "endpoint_url": environment["AWS_ENDPOINT_URL"]}
        try:
            arn = session.client("iam", **place).get_role(RoleName=name)["Role"]["Arn"]
            keys = session.client("sts", **place).assume_role(RoleArn=arn, RoleSessionName=_SESSION)["Credentials"]
        except ClientError as error:
            raise ProcessError(f"--role {name}: {error.response['Error']['Message']}; {_fix(error)}") from error
    return {
        **environment,
        "AWS_ACCESS_KEY_ID": keys["AccessKeyId"],
        "AWS_SECRET_ACCESS_KEY": keys["SecretAccessKey"],
        "AWS_SESSION_TOKEN": keys["SessionToken"],
    }


def _fix(error: ClientError) -> str:
    if error.response["Error"]["Code"] == "NoSuchEntity":
        return "create it with `aws iam create-role`"
    return "its trust policy must allow this account to assume it"
