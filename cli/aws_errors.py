"""Fixes for an AWS that does not answer, or refuses the credentials."""

import os
from collections.abc import Callable
from traceback import walk_tb
from typing import TypeVar

from botocore import exceptions as aws
from botocore.parsers import ResponseParserError

from cli.errors import CommandError

Answer = TypeVar("Answer")
DEMO = '`make demo` and then `eval "$(.venv/bin/python -m local_aws env)"` for the embedded AWS'

_BY_KIND: tuple[tuple[tuple[type[Exception], ...], str], ...] = (
    ((aws.NoCredentialsError, aws.PartialCredentialsError), "run `aws sso login` or `aws configure`"),
    ((aws.SSOError, aws.TokenRetrievalError), "run `aws sso login`"),
    ((aws.ProfileNotFound,), "choose a profile that `aws configure list-profiles` lists"),
    (
        (aws.CredentialRetrievalError, aws.ConfigParseError, OSError),
        "correct the profile in ~/.aws/config, or choose another with --profile",
    ),
    ((aws.LoginError,), "run `aws login`"),
    ((aws.NoRegionError,), "set `region` in the cluster file, or pass --region"),
)
REFUSED = (
    "ExpiredToken",
    "RequestExpired",
    "InvalidClientTokenId",
    "UnrecognizedClient",
    "SignatureDoesNotMatch",
    "AuthFailure",
)
ABSENT = ("NotFound", "NoSuchEntity", "404")
"""Parts of the codes of resources that do not exist: of EC2 and most services, of IAM, and of S3's HeadBucket."""
OF_CREDENTIALS = (
    aws.NoCredentialsError,
    aws.PartialCredentialsError,
    aws.CredentialRetrievalError,
    aws.SSOError,
    aws.TokenRetrievalError,
    aws.LoginError,
)
"""Errors of botocore without credentials, or with expired ones."""
UNINTELLIGIBLE = (ResponseParserError, KeyError)
"""Errors of botocore for an answer that AWS does not give, such as the page of a proxy."""


def is_ours(error: Exception) -> bool:
    """Return whether a KeyError is a bug of this program, and not an answer that botocore could not read."""
    frames = [frame for frame, _ in walk_tb(error.__traceback__)]
    return isinstance(error, KeyError) and not (frames and str(frames[-1].f_globals.get("__name__")).startswith("botocore."))


def is_absent(error: aws.ClientError) -> bool:
    """Return whether the resource of the call does not exist; CloudFormation says so only in the message."""
    found = error.response.get("Error", {})
    return any(each in str(found.get("Code")) for each in ABSENT) or "does not exist" in found.get("Message", "")


def unless_absent(ask: Callable[[], Answer]) -> Answer | None:
    """Return what ``ask`` returns, or None if the resource of its call does not exist."""
    try:
        return ask()
    except aws.ClientError as error:
        if is_absent(error):
            return None
        raise


def explained(command: str, error: Exception) -> CommandError:
    """Return the error of the command, on one line, with its fix."""
    if isinstance(error, UNINTELLIGIBLE) or (isinstance(error, aws.ClientError) and "Error" not in error.response):
        return not_aws(f"cannot run `{command}`")
    message = " ".join(str(error).split())
    return CommandError(f"cannot run `{command}`: {message}", _fix(error))


def not_aws(problem: str) -> CommandError:
    """Return the error of an answer that botocore cannot read."""
    return CommandError(f"{problem}: the endpoint that answers is not AWS", _after_silence())


def are_refused(error: aws.ClientError) -> bool:
    """Return whether AWS refused the credentials; AuthFailure of EC2 can also mean the resource.

    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html
    """
    answer = error.response.get("Error", {})
    code = str(answer.get("Code", ""))
    return code.startswith(REFUSED) and (code != "AuthFailure" or "validate" in str(answer.get("Message", "")))


def _fix(error: Exception) -> str:
    if isinstance(error, aws.ClientError):
        return _after_refusal(error)
    if isinstance(error, aws.ConnectionError | aws.HTTPClientError):
        return _after_silence()
    return next((fix for kinds, fix in _BY_KIND if isinstance(error, kinds)), "check AWS_PROFILE and the other AWS_ variables")


def _after_refusal(error: aws.ClientError) -> str:
    """Return the fix for an error that AWS answers."""
    code = str(error.response["Error"]["Code"])
    if are_refused(error):
        return "run `aws sso login`, or use other credentials"
    if "AccessDenied" in code or "Unauthorized" in code or code == "AuthFailure":
        return "use a role with this permission; `aws sts get-caller-identity` prints the current one"
    return "try again; if it fails again, check the AWS Health Dashboard and the account's quotas"


def _after_silence() -> str:
    """Return the fix for an endpoint that does not answer."""
    endpoint = next((os.environ[name] for name in sorted(os.environ) if name.startswith("AWS_ENDPOINT_URL")), None)
    if endpoint is None:
        return "check the network, and HTTPS_PROXY and AWS_CA_BUNDLE if they are set"
    return f"AWS_ENDPOINT_URL is {endpoint}: run {DEMO}, or open a new shell for an AWS account"
