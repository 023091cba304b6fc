"""What to do when AWS does not answer, or refuses the credentials."""

import os

from botocore import exceptions as aws

DEMO = '`make demo` and then `eval "$(.venv/bin/python -m local_aws env)"` for the embedded AWS'

_BY_KIND: tuple[tuple[tuple[type[Exception], ...], str], ...] = (
    ((aws.NoCredentialsError, aws.PartialCredentialsError), f"run `aws sso login` or `aws configure` for an account, or {DEMO}"),
    ((aws.SSOError, aws.TokenRetrievalError), "run `aws sso login`"),
    ((aws.ProfileNotFound,), "set AWS_PROFILE to one that `aws configure list-profiles` lists, or unset it"),
    (
        (aws.CredentialRetrievalError, aws.ConfigParseError, OSError),
        "mend the profile in ~/.aws/config, or choose another by AWS_PROFILE",
    ),
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


def explained(command: str, error: Exception) -> str:
    """One line with what went wrong and what to do about it."""
    said = " ".join(str(error).split())
    return f"cannot run `{command}`: {said}; {_remedy(error)}"


def _remedy(error: Exception) -> str:
    if isinstance(error, aws.ClientError):
        return _after_refusal(str(error.response["Error"]["Code"]))
    if isinstance(error, aws.ConnectionError | aws.HTTPClientError):
        return _after_silence()
    return next((remedy for kinds, remedy in _BY_KIND if isinstance(error, kinds)), "look at AWS_PROFILE and the AWS_ variables")


def _after_refusal(code: str) -> str:
    """What to do when AWS answers with this code."""
    if code.startswith(REFUSED):
        return f"run `aws sso login`, or take other credentials; or {DEMO}"
    if "AccessDenied" in code or "Unauthorized" in code:
        return "`aws sts get-caller-identity` says who you are; take a role that may do this"
    return "try again; AWS's health and the account's limits are the next places to look"


def _after_silence() -> str:
    """What to do when nothing answers at the endpoint."""
    endpoint = next((os.environ[name] for name in sorted(os.environ) if name.startswith("AWS_ENDPOINT_URL")), None)
    if endpoint is None:
        return "check the network, and HTTPS_PROXY and AWS_CA_BUNDLE if they are set"
    return f"this shell is pointed at {endpoint}: run {DEMO}, or open a new shell for an account"
