"""Check keys, secrets, topics, images, roles and policies that the file names."""

from collections.abc import Callable, Iterator
from typing import Any

from botocore.exceptions import ClientError

from cli.aws_errors import ABSENT, are_refused
from cli.preflight.account import Account
from cli.preflight.check import CheckResult, code_of, error, is_denied, not_answered, ok, skipped
from config.instance_types import instance_type

Look = Callable[[Account, str], CheckResult]
NOT_SHARED = "AuthFailure"
"""What EC2 says of an image that is there, and private to another account."""


def references(account: Account) -> Iterator[CheckResult]:
    """Check that each exists in the region and is usable."""
    named = list(dict.fromkeys(_named(account)))
    if not named:
        yield skipped("the file names no key, secret, topic, image, role or policy")
    for look, name in named:
        yield _looked_up(account, look, name)


def _looked_up(account: Account, look: Look, name: str) -> CheckResult:
    parts = name.split(":")
    if len(parts) > 5 and parts[3] not in ("", account.region):
        return error(f"{name} is in {parts[3]}, and the cluster is in {account.region}", f"use one in {account.region}")
    try:
        return look(account, name)
    except ClientError as failure:
        if any(each in code_of(failure) for each in (*ABSENT, "InvalidAMIID")):
            return error(f"{name} does not exist", "correct it in the file, or create it")
        if code_of(failure) == NOT_SHARED and not are_refused(failure):
            return error(f"{name} is not shared with this account", "ask its owner to share it, or use another")
        if is_denied(failure):
            result = not_answered(failure)
            return CheckResult(result.outcome, f"{name}: {result.message}", result.fix)
        raise


def _named(account: Account) -> Iterator[tuple[Look, str]]:
    config = account.config
    users = [each for each in (config.slurm.accounting if config.slurm else None, config.directory) if each]
    keys = [volume.member("VolumeKmsKeyId").text for group in account.request.all_groups for volume in group.volumes]
    of_eks = [config.eks.secrets_key_arn] if config.eks else []
    yield from ((_key, each) for each in [*(user.secret_key_arn for user in users), *keys, *of_eks] if each)
    yield from ((_secret, each) for each in (user.secret_arn for user in users) if each)
    notified = config.monitoring.topic_arn if config.monitoring.enabled else None
    yield from ((_topic, each) for each in dict.fromkeys([config.alarm_topic_arn, notified]) if each)
    yield from (
        (_policy, each) for each in (*config.node_role.managed_policy_arns, config.node_role.permissions_boundary_arn) if each
    )
    for group in account.request.all_groups:
        yield from ((_image, each) for each in [group.member("ImageId").text] if each.startswith("ami-"))
        yield from ((_role, each.text) for each in [group.member("ExecutionRole")] if each.is_overridden and each.text)
    yield from ((_role, each) for each in [account.request.member("ClusterRole").text] if each)


def _key(account: Account, name: str) -> CheckResult:
    found = account.client("kms").describe_key(KeyId=name)["KeyMetadata"]
    if found["KeyState"] != "Enabled":
        return error(f"key {name} is {found['KeyState']}", f"`aws kms enable-key --key-id {found['KeyId']}`, or take another")
    if found.get("KeySpec", "SYMMETRIC_DEFAULT") != "SYMMETRIC_DEFAULT":
        return error(f"key {name} is {found['KeySpec']}", "volumes and secrets require symmetric keys")
    return ok(f"key {name} is enabled (its policy is not checked)")


def _secret(account: Account, name: str) -> CheckResult:
    found = account.client("secretsmanager").describe_secret(SecretId=name)
    if found.get("DeletedDate"):
        return error(f"secret {name} is scheduled for deletion", "`aws secretsmanager restore-secret`, or use another")
    return ok(f"secret {name} exists (its content is not checked)")


def _topic(account: Account, name: str) -> CheckResult:
    account.client("sns").get_topic_attributes(TopicArn=name)
    return ok(f"topic {name} exists")


def _image(account: Account, name: str) -> CheckResult:
    images: list[dict[str, Any]] = account.client("ec2").describe_images(ImageIds=[name])["Images"]
    if not images:
        return error(
            f"image {name} does not exist, or is not shared with this account", "correct `image_id`, or ask its owner to share it"
        )
    if images[0]["State"] != "available":
        return error(f"image {name} is {images[0]['State']}", "wait, or use another")
    made_for = images[0].get("Architecture")
    for kind in (kind for group in account.request.all_groups if group.member("ImageId").text == name for kind in group.types):
        known = instance_type(kind)
        if known and made_for and known.architecture != made_for:
            return error(f"image {name} is for {made_for}, and {kind} is {known.architecture}", "use a matching image or type")
    return ok(f"image {name} is available (its content is not checked)")


def _role(account: Account, arn: str) -> CheckResult:
    found = account.client("iam").get_role(RoleName=arn.rsplit("/", 1)[-1])["Role"]
    statements = found["AssumeRolePolicyDocument"].get("Statement", [])
    principals = [each.get("Principal") for each in (statements if isinstance(statements, list) else [statements])]
    services = {service for each in principals if isinstance(each, dict) for service in _listed(each.get("Service"))}
    if "sagemaker.amazonaws.com" not in services:
        return error(f"role {arn} does not trust sagemaker.amazonaws.com", "add the service to its trust policy")
    return ok(f"role {arn} exists and trusts SageMaker")


def _policy(account: Account, arn: str) -> CheckResult:
    account.client("iam").get_policy(PolicyArn=arn)
    return ok(f"policy {arn} exists (its statements are not checked)")


def _listed(value: object) -> list[str]:
    return [value] if isinstance(value, str) else [str(each) for each in value] if isinstance(value, list) else []
