"""What to do when AWS does not answer, or refuses the credentials."""

import os
from traceback import walk_tb

from botocore import exceptions as aws
from botocore.parsers import ResponseParserError

DEMO = '`make demo` and then `eval "$(.venv/bin/python -m local_aws env)"` for the embedded AWS'

_BY_KIND: tuple[tuple[tuple[type[Exception], ...], str], ...] = (
    ((aws.NoCredentialsError, aws.PartialCredentialsError), f"run `aws sso login` or `aws configure` for an account, or {DEMO}"),
    ((aws.SSOError, aws.TokenRetrievalError), "run `aws sso login`"),
    ((aws.ProfileNotFound,), "set AWS_PROFILE to one that `aws configure list-profiles` lists, or unset it"),
    (
        (aws.CredentialRetrievalError, aws.ConfigParseError, OSError),
        "mend the profile in ~/.aws/config, or choose another by AWS_PROFILE",
    ),
    ((aws.LoginError,), "run `aws login`"),
    ((aws.NoRegionError,), "set `region` in the cluster's file, or AWS_REGION"),
)
REFUSED = (
    "ExpiredToken",
    "RequestExpired",
    "InvalidClientTokenId",
    "UnrecognizedClient",
    "SignatureDoesNotMatch",
    "AuthFailure",
)
OF_CREDENTIALS = (
    aws.NoCredentialsError,
    aws.PartialCredentialsError,
    aws.CredentialRetrievalError,
    aws.SSOError,
    aws.TokenRetrievalError,
    aws.LoginError,
)
"""What botocore raises where it has no credentials to ask with, or none any more."""
UNINTELLIGIBLE = (ResponseParserError, KeyError)
"""What botocore raises of an answer that no AWS gives: a portal's page, or a proxy's; of some with a KeyError of its own."""


def is_ours(error: Exception) -> bool:
    """Whether a KeyError is a fault of this program, and not of an answer that botocore could not read."""
    frames = [frame for frame, _ in walk_tb(error.__traceback__)]
    return isinstance(error, KeyError) and not (frames and str(frames[-1].f_globals.get("__name__")).startswith("botocore."))


def explained(command: str, error: Exception) -> str:
    """One line with what went wrong and what to do about it."""
    if isinstance(error, UNINTELLIGIBLE) or (isinstance(error, aws.ClientError) and "Error" not in error.response):
        return f"cannot run `{command}`: {not_aws()}"
    said = " ".join(str(error).split())
    return f"cannot run `{command}`: {said}; {_remedy(error)}"


def not_aws() -> str:
    """What an answer that botocore cannot read means, and what to do about it."""
    return f"what answers is not AWS; {_after_silence()}"


def are_refused(error: aws.ClientError) -> bool:
    """Whether the answer is about the credentials: of EC2, AuthFailure may be about what the caller asks for as well.

    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html
    """
    said = error.response.get("Error", {})
    code = str(said.get("Code", ""))
    return code.startswith(REFUSED) and (code != "AuthFailure" or "validate" in str(said.get("Message", "")))


def _remedy(error: Exception) -> str:
    if isinstance(error, aws.ClientError):
        return _after_refusal(error)
    if isinstance(error, aws.ConnectionError | aws.HTTPClientError):
        return _after_silence()
    return next((remedy for kinds, remedy in _BY_KIND if isinstance(error, kinds)), "look at AWS_PROFILE and the AWS_ variables")


def _after_refusal(error: aws.ClientError) -> str:
    """What to do when AWS answers with this error."""
    code = str(error.response["Error"]["Code"])
    if are_refused(error):
        return f"run `aws sso login`, or take other credentials; or {DEMO}"
    if "AccessDenied" in code or "Unauthorized" in code or code == "AuthFailure":
        return "`aws sts get-caller-identity` says who you are; take a role that may do this"
    return "try again; AWS's health and the account's limits are the next places to look"


def _after_silence() -> str:
    """What to do when nothing answers at the endpoint."""
    endpoint = next((os.environ[name] for name in sorted(os.environ) if name.startswith("AWS_ENDPOINT_URL")), None)
    if endpoint is None:
        return "check the network, and HTTPS_PROXY and AWS_CA_BUNDLE if they are set"
    return f"this shell is pointed at {endpoint}: run {DEMO}, or open a new shell for an account"
