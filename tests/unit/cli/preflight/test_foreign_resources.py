"""The check for what others put into the VPC of the deployment."""

from typing import Any

import pytest
from botocore import xform_name

from cli.preflight.network import foreign_resources
from tests.unit.cli.preflight.fake_aws import FILE, asked, only, stacks

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
    ("file", "groups", "outcome", "message"),
    [
        (DESTROYED, [WEB], "warning", SENTENCE),
        (FILE, [WEB], "ok", f"{SENTENCE}; `cdk destroy` keeps the VPC"),
        (DESTROYED, [], "ok", None),
    ],
)
def test_a_resource_of_others_is_a_warning_if_it_blocks_the_destroy(
    file: str, groups: list[dict[str, Any]], outcome: str, message: str | None
) -> None:
    found = only(asked(foreign_resources, account(*groups), file))
    assert found.outcome == outcome
    assert message in (None, found.message)
