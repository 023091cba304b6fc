"""Check the subnets of the EKS control plane, and settings that an EKS cluster keeps for life."""

from collections.abc import Iterator
from ipaddress import IPv4Network
from typing import Any

from botocore.exceptions import ClientError

from cli.desired_cluster import template_properties
from cli.preflight.account import Account, Json
from cli.preflight.check import CheckResult, code_of, error, skipped, together
from cli.preflight.vpc_parts import described_vpc, ranges_of_vpc, subnets_of_vpc
from config.eks import EksConfig
from config.suggestions import either
from config.zones import control_plane_zones

# https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html#network-requirements-subnets
LEAST_ADDRESSES = 6
WITHOUT_EKS = ("use1-az3", "usw1-az2", "cac1-az3")


def control_plane(account: Account) -> Iterator[CheckResult]:
    """Check that subnets of the control plane in an existing VPC are in two zones with free addresses, or that new ones fit."""
    eks, network = account.config.eks, account.config.network.existing
    if eks is None or eks.existing or network is None:
        yield skipped("the cluster uses Slurm" if eks is None else "the control plane uses no subnets of an existing VPC")
        return
    if not eks.control_plane_subnet_ids:
        listed = ", ".join(map(str, eks.control_plane_cidrs))
        yield from together(account, _new_subnets(account, eks, network.vpc_id), well=f"{listed} are free in {network.vpc_id}")
        return
    try:
        found = account.client("ec2").describe_subnets(SubnetIds=list(eks.control_plane_subnet_ids))["Subnets"]
    except ClientError as failure:
        if "NotFound" not in code_of(failure):
            raise
        yield error(str(failure.response["Error"]["Message"]), "correct `eks.control_plane_subnet_ids` or `region`")
        return
    well = f"{len(found)} subnets in {len({each['AvailabilityZoneId'] for each in found})} zones have free addresses"
    yield from together(account, _subnets(account, found), well=well)


def _new_subnets(account: Account, eks: EksConfig, vpc_id: str) -> Iterator[CheckResult]:
    """Check that the VPC contains the ranges of new subnets, and has no other subnet in them."""
    if "Kubernetes" in account.stacks:
        return  # then they are the deployment's own
    found = described_vpc(account, vpc_id)
    if found is None:
        return  # the check of the VPC reports it
    ranges = ranges_of_vpc(found)
    others = {IPv4Network(each["CidrBlock"]): each["SubnetId"] for each in subnets_of_vpc(account, vpc_id)}
    for cidr in eks.control_plane_cidrs:
        if not any(cidr.subnet_of(IPv4Network(each)) for each in ranges):
            yield error(f"`control_plane_cidrs` {cidr} is outside of {vpc_id}", f"choose a free range in {either(ranges)}")
        for other in filter(cidr.overlaps, others):
            fix = f"choose a free range in {either(ranges)}"
            yield error(f"`control_plane_cidrs` {cidr} overlaps with {others[other]} ({other})", fix)


def _subnets(account: Account, found: list[Any]) -> Iterator[CheckResult]:
    existing = account.config.network.existing
    if len({each["AvailabilityZoneId"] for each in found}) < 2:
        yield error(f"all subnets are in {found[0]['AvailabilityZoneId']}", "EKS requires subnets in at least two zones")
    for each in found:
        name, zone, free = each["SubnetId"], each["AvailabilityZoneId"], each["AvailableIpAddressCount"]
        if existing and each["VpcId"] != existing.vpc_id:
            yield error(f"{name} is in {each['VpcId']}, not in {existing.vpc_id}", "use subnets in the VPC")
        if zone in WITHOUT_EKS:
            yield error(f"{name} is in {zone}, where EKS has no control planes", "use a subnet in another zone")
        if free < LEAST_ADDRESSES:
            yield error(f"{name} has {free} free addresses, and EKS requires {LEAST_ADDRESSES}", "use a larger subnet")


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
