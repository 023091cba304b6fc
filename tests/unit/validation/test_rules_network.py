from ipaddress import IPv4Network
from typing import Any

import pytest

from config.errors import Level

EXISTING = {
    "vpc_id": "vpc-0123456789abcdef0",
    "node_subnet_ids": ["subnet-0123456789abcdef0"],
    "security_group_id": "sg-0123456789abcdef0",
    "internet_access": "create",
}


def test_a_zone_name_suggests_the_regions_zone_ids(draft: Any) -> None:
    draft.set("network", "availability_zone_id", "us-west-2a")
    said = (
        'network.availability_zone_id: "us-west-2a": must be a zone id, not a zone name, which differs between accounts; '
        "use usw2-az1, usw2-az2, usw2-az3 or usw2-az4"
    )
    assert draft.lines() == [said]
    draft.remove("region")
    assert draft.lines() == [said]


def test_a_zone_is_known_without_a_region(draft: Any) -> None:
    draft.remove("region")
    assert draft.problems() == []
    draft.set("network", "availability_zone_id", "usw2-az44")
    [problem] = draft.problems()
    assert problem.level is Level.WARNING
    assert problem.fix == (
        "if `aws ec2 describe-availability-zones` lists it, suppress this warning; did you mean usw2-az4, usw2-az3 or usw2-az2?"
    )


@pytest.mark.parametrize(
    ("region", "zone"),
    [
        ("ap-northeast-1", "apne1-az3"),
        ("us-west-1", "usw1-az2"),
        ("us-east-1", "use1-dfw2-az1"),
        ("us-west-2", "usw2-lax1-az1"),
    ],
)
def test_a_zone_that_some_accounts_have_is_only_a_warning(draft: Any, region: str, zone: str) -> None:
    draft.set("region", region).set("network", "availability_zone_id", zone)
    [problem] = draft.problems()
    assert (problem.rule, problem.level) == ("known-zone", Level.WARNING)
    assert f"`aws ec2 describe-availability-zones --region {region}`" in problem.fix


@pytest.mark.parametrize(("region", "zone"), [("eusc-de-east-1", "eusc-dee1-az1"), ("us-gov-west-1", "usgw1-az1")])
def test_a_zone_of_a_region_without_listed_zones_is_accepted(draft: Any, region: str, zone: str) -> None:
    assert draft.set("region", region).set("network", "availability_zone_id", zone).problems() == []


def test_a_region_without_listed_zones_accepts_unknown_zones(draft: Any) -> None:
    draft.set("region", "mx-central-1").set("network", "availability_zone_id", "mxc1-az1")
    assert draft.problems() == []
    draft.set("network", "availability_zone_id", "usw2-az1")
    [problem] = draft.problems()
    assert problem.rule == "zone-region"
    assert problem.fix == "use an id from `aws ec2 describe-availability-zones --region mx-central-1`"


@pytest.mark.parametrize(
    ("vpc", "nodes"),
    [
        ("10.0.0.0/16", "10.1.0.0/16"),
        ("10.0.0.0/16", "100.64.0.0/16"),
        ("172.20.0.0/16", "172.21.0.0/16"),
        ("192.168.0.0/20", "192.168.128.0/20"),
        ("10.2.0.0/16", "10.0.0.0/16"),
    ],
)
def test_compatible_vpc_ranges_are_accepted(draft: Any, vpc: str, nodes: str) -> None:
    draft.set("network", "vpc_cidr", vpc).set("network", "node_cidr", nodes)
    draft.set("network", "public_subnet_cidr", str(next(IPv4Network(vpc).subnets(new_prefix=24))))
    assert draft.lines() == []


@pytest.mark.parametrize(
    ("vpc", "nodes", "why"),
    [
        ("172.20.0.0/16", "10.1.0.0/16", "cannot add a range in 10.0.0.0/8"),
        ("100.64.0.0/16", "10.1.0.0/16", "cannot add a range in 10.0.0.0/8"),
        ("10.1.0.0/16", "10.0.0.0/16", "cannot add a range in 10.0.0.0/16"),
        ("10.0.0.0/16", "198.19.0.0/16", "reserved by AWS"),
    ],
)
def test_incompatible_vpc_ranges_are_rejected(draft: Any, vpc: str, nodes: str, why: str) -> None:
    draft.set("network", "vpc_cidr", vpc).set("network", "node_cidr", nodes)
    draft.set("network", "public_subnet_cidr", str(next(IPv4Network(vpc).subnets(new_prefix=24))))
    [line] = draft.lines()
    assert why in line
    assert line.startswith(f'network.node_cidr: "{nodes}": ')


@pytest.mark.parametrize("size", [8, 15, 29])
def test_a_range_of_an_unsupported_size_is_rejected(draft: Any, size: int) -> None:
    draft.set("network", "node_cidr", f"100.64.0.0/{size}") if size > 9 else draft.set("network", "node_cidr", "44.0.0.0/8")
    assert [problem.rule for problem in draft.problems()] == ["cidr-size"]


@pytest.mark.parametrize("value", ["10.0.0.0", "fd00::/16", "10.0.0.0/99", 10, "", True])
def test_an_invalid_ipv4_range_is_rejected(draft: Any, value: object) -> None:
    draft.set("network", "vpc_cidr", value)
    [line] = draft.lines()
    assert "use e.g. 10.0.0.0/16" in line


def test_existing_subnets_can_get_gateways_if_the_public_subnet_is_in_the_vpc(draft: Any) -> None:
    draft.set("network", "existing", EXISTING).set("network", "vpc_cidr", "192.168.0.0/16")
    assert [problem.rule for problem in draft.problems()] == ["public-subnet-in-existing-vpc"]
    draft.set("network", "public_subnet_cidr", "192.168.0.0/24")
    assert draft.problems() == []


def test_an_existing_network_with_its_own_internet_access_needs_no_public_subnet(draft: Any) -> None:
    draft.set("network", "existing", {**EXISTING, "internet_access": "existing"})
    draft.set("network", "vpc_cidr", "172.16.0.0/16")
    assert draft.problems() == []
