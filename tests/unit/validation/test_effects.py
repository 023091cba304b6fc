"""The word for the effect of a changed field agrees with AWS's registry, which says what CloudFormation replaces."""

from typing import Any, cast

import pytest
import yaml

from cli.preflight import changes
from config.section import Section
from local_aws.cloudformation.schemas import schema
from tests.unit.validation.test_documentation import APIS

TYPES: dict[str, str] = yaml.safe_load("""
{CreateMicrosoftTeamsChannelConfiguration: Chatbot::MicrosoftTeamsChannelConfiguration, PutMetricAlarm: CloudWatch::Alarm,
CreateSlackChannelConfiguration: Chatbot::SlackChannelConfiguration, AssociateVpcCidrBlock: EC2::VPCCidrBlock,
CreateSubnet: EC2::Subnet, CreateVpc: EC2::VPC, CreateAddon: EKS::Addon, CreateCluster: EKS::Cluster,
CreateDataRepositoryAssociation: FSx::DataRepositoryAssociation, CreateFileSystem: FSx::FileSystem, CreateRole: IAM::Role,
AttachRolePolicy: IAM::Role, PutRolePolicy: IAM::Role, PutRetentionPolicy: Logs::LogGroup, Subscribe: SNS::Subscription}
""")
# Properties whose names are not the API's.
PROPERTIES = {**changes.PROPERTIES, "PolicyArn": "ManagedPolicyArns", "PolicyDocument": "Policies"}
OF_A_REPLACEMENT = {"replaces the file system", "replaces cluster and file system", "in two deployments", "at creation"}
# Another value is another resource under another logical id, so nothing is replaced.
OTHER_RESOURCES = {"control_plane_cidrs", "emails"}
NATIVE = [(section, name, api) for (section, name), api in APIS.items() if api and not api.startswith("sagemaker:")]


def word(section: type[Section], name: str) -> str:
    """Return the word of a field."""
    return str(cast("Any", section.model_fields[name].json_schema_extra)["change"])


@pytest.mark.parametrize(("section", "name", "api"), NATIVE, ids=[f"{section.__name__}.{name}" for section, name, _ in NATIVE])
def test_a_field_is_in_place_only_if_cloudformation_updates_its_property(section: type[Section], name: str, api: str) -> None:
    operation, _, member = api.partition(" ")
    described = schema(f"AWS::{TYPES[operation.split(':')[1]]}", "us-west-2")
    first, *rest = (PROPERTIES.get(part, part[0].upper() + part[1:]) for part in member.replace("[]", "").split("."))
    assert described
    assert first in described.document["properties"]
    assert (first, *rest) not in described.paths("readOnlyProperties")
    marks = described.create_only() | described.conditionally_create_only()
    is_replaced = any(mark == (first, *rest)[: len(mark)] for mark in marks)
    assert (word(section, name) in OF_A_REPLACEMENT) == (is_replaced and name not in OTHER_RESOURCES)
