"""Check `cdk bootstrap` in the region."""

import json
from collections.abc import Iterator
from pathlib import Path

from cli.aws_errors import unless_absent
from cli.cluster_folder import CHECKOUT
from cli.preflight.account import Account
from cli.preflight.check import CheckResult, error, ok

# From aws-cdk-lib's DefaultStackSynthesizer; a test compares them with the templates.
QUALIFIER = "hnb659fds"
LEAST_VERSION = 6
CDK_JSON = Path("cdk.json")


def qualifier() -> str:
    """Return the bootstrap's qualifier from the working directory's cdk.json, else the checkout's, or the CDK's default."""
    file = CDK_JSON if CDK_JSON.is_file() else CHECKOUT / CDK_JSON
    context = json.loads(file.read_text(encoding="utf-8")).get("context", {})
    return str(context.get("@aws-cdk/core:bootstrapQualifier", QUALIFIER))


def role_arn(account: Account, role: str) -> str:
    """Return the ARN of one of the bootstrap's roles, e.g. `deploy-role`."""
    return f"arn:{account.partition}:iam::{account.id}:role/cdk-{qualifier()}-{role}-{account.id}-{account.region}"


def bootstrap(account: Account) -> Iterator[CheckResult]:
    """Check that the bootstrap exists with a recent version and its bucket."""
    again = f"run `cdk bootstrap aws://{account.id}/{account.region}`"
    name = f"/cdk-bootstrap/{qualifier()}/version"
    found = unless_absent(lambda: account.client("ssm").get_parameter(Name=name)["Parameter"]["Value"])
    bucket = f"cdk-{qualifier()}-assets-{account.id}-{account.region}"
    if found is None:
        yield error(f"{account.region} is not bootstrapped: no parameter {name}", again)
    elif (version := int(found)) < LEAST_VERSION:
        yield error(f"the bootstrap has version {version}, and {LEAST_VERSION} is required", again)
    elif unless_absent(lambda: account.client("s3").head_bucket(Bucket=bucket)) is None:
        yield error(
            f"the bootstrap has version {version}, but bucket {bucket} does not exist",
            f"delete the stack CDKToolkit, which would not recreate the bucket, then {again}",
        )
    else:
        yield ok(f"version {version} (at least {LEAST_VERSION} is required), qualifier {qualifier()}")
