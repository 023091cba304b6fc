"""AWS's registry schemas: what is replaced, what is there, and in which types."""

from typing import Any

import pytest

from local_aws.cloudformation.checks import template_problems
from local_aws.cloudformation.resources import all_providers
from local_aws.cloudformation.resources.catalog import register_all
from local_aws.cloudformation.schemas import changes, has_attribute, replacing, schema

REGION = "us-west-2"
INVALID = "Properties validation failed for resource R with message:"
register_all()


@pytest.mark.parametrize(
    ("resource_type", "path", "replaced"),
    [
        ("AWS::EC2::Subnet", ("AvailabilityZoneId",), True),
        ("AWS::EC2::Subnet", ("MapPublicIpOnLaunch",), False),
        ("AWS::FSx::FileSystem", ("SubnetIds", "0"), True),
        ("AWS::FSx::FileSystem", ("LustreConfiguration", "DeploymentType"), True),
        ("AWS::FSx::FileSystem", ("LustreConfiguration", "DataCompressionType"), False),
        ("AWS::FSx::FileSystem", ("LustreConfiguration",), True),
        ("AWS::FSx::FileSystem", ("StorageCapacity",), False),
        ("AWS::FSx::FileSystem", ("Tags",), False),
        ("AWS::IAM::Role", ("RoleName",), True),
        ("Custom::Thing", ("Anything",), False),
    ],
)
def test_a_change_replaces_or_not_as_aws_says(resource_type: str, path: tuple[str, ...], replaced: bool) -> None:
    assert bool(replacing(resource_type, REGION, {path})) is replaced


def test_changes_are_found_as_deep_as_they_can_be_named() -> None:
    before = {"a": {"b": [1, {"c": 2}]}, "same": 1, "gone": 1}
    after = {"a": {"b": [1, {"c": 3}]}, "same": 1, "new": 1}

    assert list(changes(before, after)) == [(("a", "b", "1", "c"), 2, 3), (("gone",), 1, None), (("new",), None, 1)]
    assert list(changes([1], [1, 2])) == [((), [1], [1, 2])]


def test_scalars_get_their_schemas_types() -> None:
    described = schema("AWS::FSx::FileSystem", REGION)
    assert described is not None

    typed = described.typed(
        {"StorageCapacity": "1200", "FileSystemTypeVersion": 2.15, "LustreConfiguration": {"CopyTagsToBackups": "true"}}
    )

    assert typed == {"StorageCapacity": 1200, "FileSystemTypeVersion": "2.15", "LustreConfiguration": {"CopyTagsToBackups": True}}


def _problems(resource_type: str, **properties: Any) -> list[str]:
    return template_problems({"R": {"Type": resource_type, "Properties": properties}}, REGION)


@pytest.mark.parametrize(
    ("resource_type", "properties", "problem"),
    [
        ("AWS::X::Y", {}, "not part of the embedded AWS: AWS::X::Y"),
        (
            "AWS::FSx::FileSystem",
            {"FileSystemType": "LUSTRE", "SubnetIds": [], "LustreConfiguration": {"EfaEnabled": True}},
            "not part of the embedded AWS: AWS::FSx::FileSystem property LustreConfiguration/EfaEnabled (resource R)",
        ),
        (
            "AWS::FSx::FileSystem",
            {"FileSystemType": "LUSTRE", "SubnetIds": [], "LustreConfiguration": {"Fn::If": ["C", {"EfaEnabled": True}, {}]}},
            "not part of the embedded AWS: AWS::FSx::FileSystem property LustreConfiguration/EfaEnabled (resource R)",
        ),
        (
            "AWS::EC2::SecurityGroup",
            {"GroupDescription": "g", "SecurityGroupIngress": [{"IpProtocol": "-1", "SourcePrefixListId": "pl-1"}]},
            "not part of the embedded AWS: AWS::EC2::SecurityGroup property SecurityGroupIngress/SourcePrefixListId (resource R)",
        ),
        (
            "AWS::EC2::Subnet",
            {"CidrBlock": "10.0.0.0/24"},
            f"{INVALID} [#: required key [VpcId] not found]",
        ),
        (
            "AWS::EC2::Subnet",
            {"VpcId": "v", "SubnetId": "s"},
            f"{INVALID} [#: readOnly property [SubnetId] is not permitted]",
        ),
        (
            "AWS::S3::Bucket",
            {"VersioningConfiguration": {"State": "Enabled"}},
            f"{INVALID} [#/VersioningConfiguration: extraneous key [State] is not permitted]",
        ),
        ("Custom::Thing", {"A": 1}, "Template format error: property ServiceToken must be given (resource R)"),
    ],
)
def test_what_the_embedded_aws_cannot_make_is_named(resource_type: str, properties: dict[str, Any], problem: str) -> None:
    assert problem in _problems(resource_type, **properties)


def test_functions_and_policies_are_no_unknown_properties() -> None:
    policy = {"Statement": [{"Effect": "Allow", "Action": "*", "Resource": {"Fn::Sub": "*"}}]}

    assert _problems("AWS::IAM::Policy", PolicyName="p", PolicyDocument=policy, Roles=[{"Ref": "Role"}]) == []
    assert (
        _problems("AWS::EC2::Subnet", VpcId={"Ref": "V"}, CidrBlock={"Fn::Select": [0, {"Fn::Cidr": ["10.0.0.0/16", 1]}]}) == []
    )


@pytest.mark.parametrize("provider", all_providers(), ids=lambda provider: str(provider.type))
def test_every_provider_names_properties_that_aws_has(provider: Any) -> None:
    described = schema(provider.type, REGION)
    assert described is not None
    for path in (*provider.acts_on, *provider.without_effect):
        node = described.document
        for name in path.split("/"):
            while "items" in (followed := described.follow(node)):
                node = followed["items"]
            known = described.properties_of(node)
            assert known is not None, path
            assert name in known, path
            node = known[name]


def test_a_type_has_the_attributes_of_its_schema() -> None:
    custom = [("AWS::CloudFormation::CustomResource", "Anything"), ("Custom::Thing", "Anything.Deep")]
    for kind, name in (("AWS::SSM::Parameter", "Value"), ("AWS::EKS::Cluster", "OpenIdConnectIssuerUrl"), *custom):
        assert has_attribute(kind, REGION, name)
    for kind, name in (("AWS::SSM::Parameter", "Nothing"), ("AWS::IAM::Role", "RoleName")):
        assert not has_attribute(kind, REGION, name)
