"""Check that the file changes no setting that the deployed EKS cluster keeps for life."""

from collections.abc import Iterator
from typing import Any

from cli.desired_cluster import template_properties
from cli.preflight.account import Account, Json
from cli.preflight.check import CheckResult, error
from config.control_plane_zones import control_plane_zones


def kept_settings(account: Account, found: Json) -> Iterator[CheckResult]:
    """Yield an error for a changed key or other zones; ``found`` is the EKS cluster of the stack."""
    yield from _key(account)
    yield from _zones(account, found)


def _key(account: Account) -> Iterator[CheckResult]:
    """Compare the key with the stack's template: CloudFormation does, and does not see a key that was added with EKS's API."""
    # https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-eks-cluster-encryptionconfig.html
    eks, deployed = account.config.eks, template_properties(account, "Kubernetes", "AWS::EKS::Cluster")
    before: list[Any] = (deployed or {}).get("EncryptionConfig") or []
    keys = [each["Provider"]["KeyArn"] for each in before]
    if eks is None or deployed is None or keys == [*filter(None, [eks.secrets_key_arn])]:
        return
    what = "CloudFormation cannot add `eks.secrets_key_arn` to an EKS cluster"
    by_hand = "undo the change, and add the key with `aws eks associate-encryption-config`"
    if keys:
        what, by_hand = (
            f"the EKS cluster encrypts secrets with {keys[0]}, and EKS cannot change or remove its key",
            "undo the change",
        )
    yield error(what, f"{by_hand}, or {_recreate(account)}")


def _zones(account: Account, found: Json) -> Iterator[CheckResult]:
    # https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html: new subnets must be in the zones of the first ones.
    eks, network = account.config.eks, account.config.network
    if eks is None:
        return
    desired = set(eks.control_plane_zone_ids or control_plane_zones(network.availability_zone_id))
    if eks.control_plane_subnet_ids:
        desired = _zones_of(account, list(eks.control_plane_subnet_ids))
    before = _zones_of(account, found["resourcesVpcConfig"]["subnetIds"])
    if before != desired:
        what = f"the control plane is in {_listed(before)}, and EKS cannot move it to {_listed(desired)}"
        yield error(what, f"undo the change, or {_recreate(account)}")


def _zones_of(account: Account, subnets: list[str]) -> set[str]:
    found = account.client("ec2").describe_subnets(SubnetIds=subnets)["Subnets"]
    return {each["AvailabilityZoneId"] for each in found}


def _listed(zones: set[str]) -> str:
    return " and ".join(sorted(zones))


def _recreate(account: Account) -> str:
    name = account.config.name
    return f"run `cdk destroy {name}/Addons {name}/Cluster {name}/Kubernetes`, then deploy"
