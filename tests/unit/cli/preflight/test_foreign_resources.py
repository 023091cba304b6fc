"""The check for what others put into the VPC of the deployment."""

from typing import Any

import pytest
from botocore import xform_name

from cli.preflight.network import foreign_resources
from tests.unit.cli.preflight.fake_aws import DENIED, FILE, IMPORTED, FakeAws, asked, only, outcomes, stacks

GATEWAYS = ("EgressOnlyInternetGateways", "NatGateways", "VpcEndpoints", "VpcPeeringConnections", "VpnGateways")
KINDS = (*GATEWAYS, "NetworkAcls", "NetworkInterfaces", "RouteTables", "Subnets")
DESTROYED = FILE.replace('version: "2.15"', 'version: "2.15", removal: destroy')
SENTENCE = "security group sg-1 (web) of account 123456789012 is in vpc-1"


def account(*groups: dict[str, Any]) -> dict[str, Any]:
    return {
        **{f"ec2.describe_{xform_name(kind)}": {kind: []} for kind in KINDS},
        "cloudformation.describe_stacks": stacks(Network={"VpcId": "vpc-1"}),
        "ec2.describe_vpcs": {"Vpcs": [{"VpcId": "vpc-1"}]},
        "ec2.describe_security_groups": {"SecurityGroups": list(groups)},
    }


WEB = {"GroupId": "sg-1", "GroupName": "web", "Description": "web", "OwnerId": "123456789012"}


@pytest.mark.parametrize(
    ("file", "outcome", "message"),
    [(DESTROYED, "warning", SENTENCE), (FILE, "ok", f"{SENTENCE}; `cdk destroy` keeps the VPC")],
)
def test_a_resource_of_others_is_a_warning_if_it_blocks_the_destroy(file: str, outcome: str, message: str) -> None:
    found = only(asked(foreign_resources, account(WEB), file))
    assert (found.outcome, found.message) == (outcome, message)


def test_an_empty_vpc_is_fine() -> None:
    assert outcomes(asked(foreign_resources, account(), DESTROYED)) == ["ok"]


@pytest.mark.parametrize("file", [IMPORTED, FILE])
def test_without_a_vpc_of_the_deployment_nothing_is_asked(file: str) -> None:
    aws = FakeAws({})
    assert outcomes(asked(foreign_resources, aws, file)) == ["skipped"]
    assert not [each for each in aws.asked if each.startswith("ec2.")]


def test_a_missing_permission_is_a_warning() -> None:
    assert outcomes(asked(foreign_resources, account() | {"ec2.describe_vpcs": DENIED}, DESTROYED)) == ["warning"]
