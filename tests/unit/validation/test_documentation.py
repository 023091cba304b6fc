from functools import cache
from pathlib import Path
from typing import Any, cast

import pytest
import yaml
from botocore.session import get_session

from cli.preflight import changes
from config.fields import section_of
from config.model import ClusterConfig
from config.section import Change, Section
from local_aws.cloudformation.schemas import schema
from tools.configuration_page import render
from tools.configuration_page_texts import (
    CHANGES,
    EKS_EXAMPLES,
    EXAMPLES,
    LEVELS_EXAMPLE,
    MINIMAL,
    MINIMAL_EKS,
    OVERRIDES_EXAMPLE,
)
from validation.load import parse_cluster

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "configuration.md"


def sections(section: type[Section] = ClusterConfig) -> set[type[Section]]:
    inner = [found for field in section.model_fields.values() if (found := section_of(field.annotation))]
    return {section}.union(*(sections(found) for found in inner))


FIELDS = [(section, name) for section in sorted(sections(), key=lambda each: each.__name__) for name in section.model_fields]


def test_the_page_is_fresh() -> None:
    assert PAGE.read_text() == render(), "run `python -m tools.configuration_page > docs/reference/configuration.md`"


@pytest.mark.parametrize(("section", "name"), FIELDS)
def test_every_field_has_a_description_and_a_change(section: type[Section], name: str) -> None:
    field = section.model_fields[name]
    extra: Any = field.json_schema_extra
    assert field.description
    assert not field.description.endswith(".")
    assert extra["change"] in {change.value for change in Change}


@pytest.mark.parametrize(("section", "name"), [(section, name) for section, name in FIELDS if name != "name"])
def test_every_field_is_on_the_page(section: type[Section], name: str) -> None:
    description = section.model_fields[name].description or ""
    assert any(f"| `{name}` |" in line and description.replace("|", "\\|") in line for line in PAGE.read_text().splitlines())


def test_every_change_word_is_explained() -> None:
    assert set(CHANGES) == set(Change)


@pytest.mark.parametrize("shortest", [MINIMAL, MINIMAL_EKS], ids=["slurm", "eks"])
def test_the_shortest_file_is_a_cluster(shortest: str) -> None:
    assert isinstance(parse_cluster(shortest.encode(), "example"), ClusterConfig)


@pytest.mark.parametrize("shortest", [MINIMAL, MINIMAL_EKS], ids=["slurm", "eks"])
def test_no_line_can_be_left_out_of_the_shortest_file(shortest: str) -> None:
    content = yaml.safe_load(shortest)
    for name in content.keys() - {"region", "storage"}:
        shorter = {key: value for key, value in content.items() if key != name}
        assert not isinstance(parse_cluster(yaml.safe_dump(shorter).encode(), "example"), ClusterConfig)


@pytest.mark.parametrize(
    "example", [*EXAMPLES.values(), OVERRIDES_EXAMPLE, LEVELS_EXAMPLE], ids=[*EXAMPLES, "overrides", "levels"]
)
def test_every_example_on_the_page_is_valid(example: str) -> None:
    given = yaml.safe_load(example)
    content = {**yaml.safe_load(MINIMAL), **given}
    if "instance_groups" in given:
        content["instance_groups"] = [*given["instance_groups"], yaml.safe_load(MINIMAL)["instance_groups"][1]]
    parsed = parse_cluster(yaml.safe_dump(content).encode(), "example")
    assert isinstance(parsed, ClusterConfig), [str(problem) for problem in parsed]


@pytest.mark.parametrize("example", EKS_EXAMPLES.values(), ids=EKS_EXAMPLES)
def test_every_example_for_eks_is_valid(example: str) -> None:
    content = {**yaml.safe_load(MINIMAL_EKS), **yaml.safe_load(example)}
    parsed = parse_cluster(yaml.safe_dump(content).encode(), "example")
    assert isinstance(parsed, ClusterConfig), [str(problem) for problem in parsed]


APIS = {(section, name): str(cast(Any, section.model_fields[name].json_schema_extra)["api"]) for section, name in FIELDS}


@cache
def model(service: str) -> Any:
    """Return a service's model, read by botocore."""
    return get_session().get_service_model(service)


@pytest.mark.parametrize("api", sorted({api for api in APIS.values() if api}))
def test_each_field_becomes_a_member_of_its_request(api: str) -> None:
    operation, _, members = api.partition(" ")
    service, _, operation = operation.partition(":")
    shape = model(service).operation_model(operation).input_shape
    for member in members.split("."):
        shape = shape.members[member.removesuffix("[]")]
        if member.endswith("[]"):
            shape = shape.member


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


@pytest.mark.parametrize(("section", "name", "api"), NATIVE, ids=[f"{section.__name__}.{name}" for section, name, _ in NATIVE])
def test_a_field_is_in_place_only_if_cloudformation_updates_its_property(section: type[Section], name: str, api: str) -> None:
    operation, _, member = api.partition(" ")
    described = schema(f"AWS::{TYPES[operation.split(':')[1]]}", "us-west-2")
    first, *rest = (PROPERTIES.get(part, part[0].upper() + part[1:]) for part in member.replace("[]", "").split("."))
    assert described
    assert first in described.document["properties"]
    assert (first, *rest) not in described.paths("readOnlyProperties")
    marks = described.create_only() | described.conditionally_create_only()
    word = cast(Any, section.model_fields[name].json_schema_extra)["change"]
    is_replaced = any(mark == (first, *rest)[: len(mark)] for mark in marks)
    assert (word in OF_A_REPLACEMENT) == (is_replaced and name not in OTHER_RESOURCES)
