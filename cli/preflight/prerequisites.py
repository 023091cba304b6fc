"""Check the credentials, the region, the zone, `cdk bootstrap` and the service-linked roles."""

import json
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from cli.aws_errors import unless_absent
from cli.cluster_folder import CHECKOUT
from cli.preflight.account import Account
from cli.preflight.check import CheckResult, error, ok, warning
from config.zones import zone_fix

# From aws-cdk-lib's DefaultStackSynthesizer; a test compares them with the templates.
QUALIFIER = "hnb659fds"
LEAST_VERSION = 6
CDK_JSON = Path("cdk.json")
# https://docs.aws.amazon.com/sagemaker/latest/dg/security-iam-awsmanpol-AmazonSageMakerHyperPodServiceRolePolicy.html
HYPERPOD = ("AWSServiceRoleForSageMakerHyperPod", "hyperpod.sagemaker.amazonaws.com")
# https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-service-linked-roles.html
FSX = ("AWSServiceRoleForAmazonFSx", "fsx.amazonaws.com")
# https://docs.aws.amazon.com/eks/latest/userguide/using-service-linked-roles-eks.html
EKS = ("AWSServiceRoleForAmazonEKS", "eks.amazonaws.com")


def identity(account: Account) -> Iterator[CheckResult]:
    """Report who is asking; the command has compared the account with the file's before."""
    arn = account.identity["Arn"]
    if arn.endswith(":root"):
        yield warning(
            f"account {account.id}, as its root user", "use a role: the root user's permissions cannot be limited or checked"
        )
    else:
        yield ok(f"account {account.id}, as {arn}")


def region(account: Account) -> Iterator[CheckResult]:
    """Compare the file's region with the environment's."""
    wanted, here = account.config.region, os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    if wanted is None:
        yield ok(f"{account.region}, from the environment, as the file has no `region`")
    elif here and here != wanted:
        yield warning(
            f"{wanted}, as in the file, but the environment has {here}",
            f"other commands would use it: `export AWS_REGION={wanted}`, or `unset AWS_REGION AWS_DEFAULT_REGION`",
        )
    else:
        yield ok(f"{wanted}, as in the file")


def zone(account: Account) -> Iterator[CheckResult]:
    """Check that the region has the availability zone, and that the account may use it."""
    wanted = account.config.network.availability_zone_id
    zones = {
        each["ZoneId"]: each
        for each in account.client("ec2").describe_availability_zones(AllAvailabilityZones=True)["AvailabilityZones"]
    }
    if wanted not in zones:
        yield error(f"{account.region} has no zone {wanted} in this account", zone_fix(wanted, account.region))
        return
    found = zones[wanted]
    if found.get("OptInStatus") == "not-opted-in":
        yield error(f"{wanted} ({found['ZoneName']}) is not opted in", "opt in to its zone group, or use another zone")
    elif found.get("State", "available") != "available":
        yield warning(f"{wanted} ({found['ZoneName']}) is {found['State']}", "wait, or use another zone")
    else:
        yield ok(f"{wanted}, in this account {found['ZoneName']}")


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


def service_roles(account: Account) -> Iterator[CheckResult]:
    """Check HyperPod's role, for a new file system FSx's, and for a new EKS cluster EKS's."""
    config = account.config
    others = [*([FSX] if config.storage.created_file_systems else []), *([EKS] if config.creates_eks_cluster else [])]
    for name, service in (HYPERPOD, *others):
        missing = f"does not exist yet: {service} creates it at the first use, which requires iam:CreateServiceLinkedRole"
        found = unless_absent(partial(account.client("iam").get_role, RoleName=name))
        yield ok(f"{name} {missing if found is None else 'exists'}")
