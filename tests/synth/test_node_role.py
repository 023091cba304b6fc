"""Permissions of nodes."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from cluster_resource.event import HASH_LENGTH
from tests.synth.synthesized import CLUSTER, StackTemplate, Synthesized, synthesize
from tests.synth.variants import (
    BOUNDARY,
    KEY,
    NODE_ROLE,
    OTHER_GROUP,
    OTHER_SUBNET,
    SECRET,
    TWO_SUBNETS,
    write_variants,
)
from validation.rules.common.node_role import MAX_STATEMENTS_CHARACTERS

# Actions that support no resources, by https://docs.aws.amazon.com/service-authorization/latest/reference/.
WITHOUT_RESOURCES = {
    "cloudwatch:PutMetricData",
    "ec2:DescribeDhcpOptions",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeSecurityGroups",
    "ec2:DescribeSubnets",
    "ec2:DescribeVpcs",
    "ssmmessages:CreateControlChannel",
    "ssmmessages:CreateDataChannel",
    "ssmmessages:OpenControlChannel",
    "ssmmessages:OpenDataChannel",
}

# Actions that HyperPod's documentation requires in a VPC of the user.
INTERFACES = {
    "ec2:CreateNetworkInterface",
    "ec2:CreateNetworkInterfacePermission",
    "ec2:DeleteNetworkInterface",
    "ec2:DeleteNetworkInterfacePermission",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeVpcs",
    "ec2:DescribeDhcpOptions",
    "ec2:DescribeSubnets",
    "ec2:DescribeSecurityGroups",
    "ec2:DetachNetworkInterface",
    "ec2:CreateTags",
}

Statement = dict[str, Any]
LISTS = ("Action", "Resource")


def as_list(value: Any) -> list[Any]:
    """Return a list; IAM writes a single item without one."""
    return value if isinstance(value, list) else [value]


def statements(stack: StackTemplate) -> list[Statement]:
    """Return all statements of the node role."""
    role, interfaces = (stack.properties(f"AWS::IAM::{kind}", named="NodeRole") for kind in ("Role", "Policy"))
    return [statement for policy in [*role["Policies"], interfaces] for statement in policy["PolicyDocument"]["Statement"]]


def allowing(stack: StackTemplate, action: str) -> list[Statement]:
    """Return the statements that allow the action."""
    return [statement for statement in statements(stack) if action in as_list(statement["Action"])]


def text(resource: Any) -> str:
    """Return the ARN with a question mark for each value that is unknown at synth."""
    joined = resource["Fn::Join"][1] if isinstance(resource, dict) else [resource]
    return "".join(part if isinstance(part, str) else "?" for part in joined)


@pytest.fixture
def stack(shipped: Synthesized) -> StackTemplate:
    return shipped["reference", CLUSTER]


def test_only_sagemaker_may_assume_the_role(stack: StackTemplate) -> None:
    [trust] = stack.properties("AWS::IAM::Role", named="NodeRole")["AssumeRolePolicyDocument"]["Statement"]
    assert trust["Principal"] == {"Service": "sagemaker.amazonaws.com"}
    assert "Condition" not in trust


def test_the_source_account_is_required_if_the_file_says_so(variants: Synthesized) -> None:
    role = variants["source-account", CLUSTER].properties("AWS::IAM::Role", named="NodeRole")
    [trust] = role["AssumeRolePolicyDocument"]["Statement"]
    assert trust["Condition"] == {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}


def test_no_managed_policy_is_attached(stack: StackTemplate) -> None:
    """SageMaker's policy allows reading every bucket with the prefix sagemaker-."""
    assert "ManagedPolicyArns" not in stack.properties("AWS::IAM::Role", named="NodeRole")


def test_the_file_adds_policies_statements_and_a_boundary(variants: Synthesized) -> None:
    stack = variants["node-role", CLUSTER]
    role = stack.properties("AWS::IAM::Role", named="NodeRole")
    assert role["ManagedPolicyArns"] == NODE_ROLE["managed_policy_arns"]
    assert role["PermissionsBoundary"] == BOUNDARY
    added = stack.properties("AWS::IAM::Policy", named="NodeRoleAdditions")["PolicyDocument"]["Statement"]
    assert [{key: as_list(value) if key in LISTS else value for key, value in each.items()} for each in added] == NODE_ROLE[
        "statements"
    ]


def test_added_statements_exist_as_long_as_the_cluster(variants: Synthesized) -> None:
    stack = variants["node-role", CLUSTER]
    cluster, _ = stack.one("Custom::HyperPodCluster")
    assert stack.one("AWS::IAM::Policy", named="NodeRoleAdditions")[0] in stack.waits_for(cluster)


def test_a_file_without_node_role_adds_nothing(stack: StackTemplate) -> None:
    role = stack.properties("AWS::IAM::Role", named="NodeRole")
    assert not role.keys() & {"ManagedPolicyArns", "PermissionsBoundary"}
    assert [policy["PolicyName"] for policy in role["Policies"]] == ["Node"]
    assert not [name for name in stack.of_type("AWS::IAM::Policy") if name.startswith("NodeRoleAdditions")]


@pytest.mark.parametrize("name", ["existing-network", "own-key", "training-plan"])
def test_the_policies_of_the_deployment_leave_room_for_statements_of_the_file(variants: Synthesized, name: str) -> None:
    """IAM accepts 10,240 characters in all inline policies of a role."""
    own = json.dumps(statements(variants[name, CLUSTER]), separators=(",", ":"))
    assert len(own) + MAX_STATEMENTS_CHARACTERS < 10_240


def test_each_statement_has_a_unique_sid(stack: StackTemplate) -> None:
    names = [statement["Sid"] for statement in statements(stack)]
    assert all(len(name) > 8 for name in names)
    assert len(set(names)) == len(names)


def test_actions_have_no_wildcards(stack: StackTemplate) -> None:
    actions = [action for statement in statements(stack) for action in as_list(statement["Action"])]
    assert not [action for action in actions if "*" in action]


def test_only_actions_without_resources_are_allowed_on_all(stack: StackTemplate) -> None:
    on_all = {
        action
        for statement in statements(stack)
        if "*" in as_list(statement["Resource"])
        for action in as_list(statement["Action"])
    }
    assert on_all == WITHOUT_RESOURCES


def test_nodes_have_the_permissions_that_hyperpod_requires(stack: StackTemplate) -> None:
    assert {action for statement in statements(stack) for action in as_list(statement["Action"])} >= INTERFACES


def test_nodes_read_the_scripts_and_write_nothing(stack: StackTemplate) -> None:
    bucket, _ = stack.one("AWS::S3::Bucket")
    [reading] = allowing(stack, "s3:GetObject")
    assert reading["Resource"] == {"Fn::Join": ["", [{"Fn::GetAtt": [bucket, "Arn"]}, "/lifecycle/*"]]}
    on_s3 = {action for statement in statements(stack) for action in as_list(statement["Action"]) if action.startswith("s3:")}
    assert on_s3 == {"s3:GetObject", "s3:ListBucket"}


def test_nodes_list_the_bucket_of_this_account_with_any_prefix(stack: StackTemplate) -> None:
    """HyperPod may list without a prefix or call HeadBucket: AWS's policies have no condition."""
    bucket, _ = stack.one("AWS::S3::Bucket")
    [listing] = allowing(stack, "s3:ListBucket")
    assert listing["Resource"] == {"Fn::GetAtt": [bucket, "Arn"]}
    assert listing["Condition"] == {"StringEquals": {"aws:ResourceAccount": {"Ref": "AWS::AccountId"}}}


def on_data_bucket(stack: StackTemplate) -> dict[str, tuple[list[str], str]]:
    """Return actions and resource of the statements on the data bucket, by Sid."""
    return {
        each["Sid"]: (as_list(each["Action"]), text(each["Resource"]))
        for each in statements(stack)
        if each["Sid"].endswith("DataBucket")
    }


def test_nodes_have_no_access_to_the_data_bucket_by_default(stack: StackTemplate) -> None:
    assert on_data_bucket(stack) == {}


def test_nodes_list_and_read_the_created_data_bucket(variants: Synthesized) -> None:
    assert on_data_bucket(variants["bucket-read", CLUSTER]) == {
        "ListDataBucket": (["s3:ListBucket"], "arn:aws:s3:::?"),
        "ReadDataBucket": (["s3:GetObject"], "arn:aws:s3:::?/*"),
    }


def test_nodes_write_and_delete_objects_of_an_existing_data_bucket(variants: Synthesized) -> None:
    assert on_data_bucket(variants["bucket-written", CLUSTER]) == {
        "ListDataBucket": (["s3:ListBucket"], "arn:aws:s3:::datasets"),
        "ReadDataBucket": (["s3:GetObject"], "arn:aws:s3:::datasets/*"),
        "WriteDataBucket": (["s3:AbortMultipartUpload", "s3:DeleteObject", "s3:PutObject"], "arn:aws:s3:::datasets/*"),
    }


def test_metrics_are_limited_to_the_namespace_of_hyperpod(stack: StackTemplate) -> None:
    [metrics] = allowing(stack, "cloudwatch:PutMetricData")
    assert metrics["Condition"] == {"StringEquals": {"cloudwatch:namespace": "/aws/sagemaker/Clusters"}}


def test_interfaces_are_created_only_in_the_existing_network_which_another_account_may_share(variants: Synthesized) -> None:
    """The ARN of a shared subnet contains its owner's account."""
    [making] = allowing(variants["existing-network", CLUSTER], "ec2:CreateNetworkInterface")
    assert {text(resource) for resource in making["Resource"]} == {
        "arn:aws:ec2:us-west-2:?:network-interface/*",
        *(f"arn:aws:ec2:us-west-2:*:subnet/{each}" for each in TWO_SUBNETS),
        "arn:aws:ec2:us-west-2:*:security-group/sg-00000000000000000",
    }


def test_created_subnets_and_groups_belong_to_this_account(stack: StackTemplate) -> None:
    [making] = allowing(stack, "ec2:CreateNetworkInterface")
    assert not [resource for resource in making["Resource"] if ":*:" in text(resource)]


def test_only_interfaces_can_be_tagged_but_by_any_call(stack: StackTemplate) -> None:
    """HyperPod may tag in a separate call: AWS's policies have no ec2:CreateAction."""
    new, tagging = allowing(stack, "ec2:CreateTags")
    assert text(tagging["Resource"]) == text(new["Resource"]) == "arn:aws:ec2:us-west-2:?:network-interface/*"
    assert new["Condition"] == {"StringEquals": {"ec2:CreateAction": "CreateNetworkInterface"}}


def test_pods_get_addresses_only_on_interfaces_in_the_subnets_and_security_groups_of_the_cluster(shipped: Synthesized) -> None:
    """The VPC CNI also sets the security groups of interfaces: EC2 checks the right on each of the groups."""
    stack = shipped["eks", CLUSTER]
    [managing] = allowing(stack, "ec2:AssignPrivateIpAddresses")
    assert text(managing["Resource"]) == "arn:aws:ec2:us-west-2:?:network-interface/*"
    assert [text(each) for each in as_list(managing["Condition"]["ArnEquals"]["ec2:Subnet"])] == [
        "arn:aws:ec2:us-west-2:*:subnet/?"
    ]
    modifying = allowing(stack, "ec2:ModifyNetworkInterfaceAttribute")
    modified = [text(each) for statement in modifying for each in as_list(statement["Resource"])]
    assert sorted(modified) == [
        "arn:aws:ec2:us-west-2:*:instance/*",
        "arn:aws:ec2:us-west-2:?:network-interface/*",
        "arn:aws:ec2:us-west-2:?:security-group/?",
    ]


def test_eks_nodes_attach_interfaces_only_to_nodes_of_their_cluster(shipped: Synthesized, stack: StackTemplate) -> None:
    """Newer versions of the VPC CNI attach them through SageMaker, so the node role needs it."""
    action = "sagemaker:AttachClusterNodeNetworkInterface"
    [found] = allowing(shipped["eks", CLUSTER], action)
    assert text(found["Resource"]).endswith(":cluster/*")
    assert found["Condition"] == {"StringEquals": {"aws:ResourceTag/hyperpod-cdk:cluster": "eks"}}
    assert not allowing(stack, action)


def test_slurm_nodes_assign_no_addresses_to_pods(stack: StackTemplate) -> None:
    assert not allowing(stack, "ec2:AssignPrivateIpAddresses")
    assert not allowing(stack, "ec2:ModifyNetworkInterfaceAttribute")


def test_interfaces_in_overridden_subnets_are_managed(variants: Synthesized) -> None:
    [removing] = allowing(variants["training-plan", CLUSTER], "ec2:DeleteNetworkInterface")
    assert f"arn:aws:ec2:us-west-2:*:subnet/{OTHER_SUBNET}" in removing["Condition"]["ArnEquals"]["ec2:Subnet"]


@pytest.mark.parametrize("change", ["existing-network", "other-range", "training-plan"])
def test_the_policy_for_old_subnets_is_deleted_after_the_cluster_has_left_them(variants: Synthesized, change: str) -> None:
    """CloudFormation creates the new policy before it updates the cluster, and deletes the old one afterwards."""
    policies = [variants[name, CLUSTER].one("AWS::IAM::Policy", named="NodeRole")[0] for name in ("same", change)]
    assert policies[0] != policies[1]
    cluster, _ = variants[change, CLUSTER].one("Custom::HyperPodCluster")
    assert policies[1] in variants[change, CLUSTER].waits_for(cluster)


def test_nodes_log_only_to_log_groups_of_this_cluster(stack: StackTemplate, variants: Synthesized) -> None:
    """A generated name ends in a hash: log groups of a file `reference-prod` do not match."""
    for template, name in ((stack, f"reference-{'?' * HASH_LENGTH}"), (variants["named", CLUSTER], "ml-cluster")):
        [making] = allowing(template, "logs:CreateLogGroup")
        assert making["Resource"]["Fn::Join"][1][-1].endswith(f":log-group:/aws/sagemaker/Clusters/{name}/*")
        [reading] = [
            statement
            for policy in template.of_type("AWS::IAM::Policy", "AWS::IAM::Role").values()
            for statement in policy["Properties"].get("PolicyDocument", {}).get("Statement", [])
            if statement.get("Sid") == "ReadNodeLogs"
        ]
        assert f"/aws/sagemaker/Clusters/{name}/*:log-stream:" in text(reading["Resource"])


def test_arns_contain_the_partition_of_the_stack(variants: Synthesized) -> None:
    permissions = statements(variants["anywhere", CLUSTER])
    arns = [resource for statement in permissions for resource in as_list(statement["Resource"]) if "Fn::Join" in resource]
    assert arns
    for arn in arns:
        first, *others = arn["Fn::Join"][1]
        assert isinstance(first, dict) or (first == "arn:" and others[0] == {"Ref": "AWS::Partition"})


def test_the_password_of_an_external_accounting_database_is_the_only_secret(variants: Synthesized) -> None:
    template = variants["external-accounting", CLUSTER]
    [reading] = allowing(template, "secretsmanager:GetSecretValue")
    assert reading["Action"] == "secretsmanager:GetSecretValue"
    assert reading["Resource"] == SECRET
    assert not allowing(template, "kms:Decrypt")


def test_only_controllers_with_a_role_of_their_own_read_the_password(variants: Synthesized) -> None:
    """The two roles differ in nothing else."""
    stack = variants["own-role", CLUSTER]
    cluster, found = stack.one("Custom::HyperPodCluster")
    groups = found["Properties"]["Request"]["InstanceGroups"]
    of_controllers, of_nodes, *others = [group["ExecutionRole"]["Fn::GetAtt"][0] for group in groups]
    assert (set(others), of_nodes[:8], of_controllers[:14]) == ({of_nodes}, "NodeRole", "ControllerRole")
    rights = {name: [each for role, each in stack.statements() if role == name] for name in (of_nodes, of_controllers)}
    assert [each for each in rights[of_controllers] if each not in rights[of_nodes]] == [
        each for each in rights[of_controllers] if each["Sid"] in ("ReadAccountingSecret", "DecryptAccountingSecret")
    ]
    assert len(rights[of_controllers]) == len(rights[of_nodes]) + 2
    assert {stack.resources[name]["Properties"]["PermissionsBoundary"] for name in rights} == {BOUNDARY}
    assert rights.keys() <= stack.waits_for(cluster)
    [passing] = [each for _, each in stack.statements() if each["Sid"] == "PassExecutionRole"]
    assert {each["Fn::GetAtt"][0] for each in passing["Resource"]} == rights.keys()


def test_a_kms_key_is_used_only_through_secrets_manager(variants: Synthesized) -> None:
    [decrypting] = allowing(variants["own-key", CLUSTER], "kms:Decrypt")
    assert decrypting["Resource"] == KEY
    assert decrypting["Condition"] == {"StringEquals": {"kms:ViaService": "secretsmanager.us-west-2.amazonaws.com"}}


def test_the_password_of_a_directory_is_the_only_secret_and_its_key_is_used_only_through_secrets_manager(
    variants: Synthesized,
) -> None:
    [reading] = allowing(variants["directory", CLUSTER], "secretsmanager:GetSecretValue")
    assert (reading["Sid"], reading["Resource"]) == ("ReadDirectorySecret", SECRET)
    [decrypting] = allowing(variants["directory", CLUSTER], "kms:Decrypt")
    assert (decrypting["Sid"], decrypting["Resource"]) == ("DecryptDirectorySecret", KEY)
    assert decrypting["Condition"] == {"StringEquals": {"kms:ViaService": "secretsmanager.us-west-2.amazonaws.com"}}


def test_nodes_describe_file_systems_only_if_hyperpod_mounts_them(stack: StackTemplate, variants: Synthesized) -> None:
    assert not allowing(stack, "fsx:DescribeFileSystems")
    assert allowing(variants["mounted-by-hyperpod", CLUSTER], "fsx:DescribeFileSystems")


@pytest.mark.parametrize(("efa", "custom", "allowed"), [(True, True, True), (True, False, False), (False, True, False)])
def test_scripts_of_the_user_learn_whether_a_file_system_is_efa_enabled(
    tmp_path: Path, *, efa: bool, custom: bool, allowed: bool
) -> None:
    """AWS's mount_fsx.sh mounts over TCP if it cannot describe the file system."""
    write_variants(tmp_path, ["existing-storage"])
    file = tmp_path / "existing-storage.yaml"
    content = yaml.safe_load(file.read_text())
    content["storage"]["existing"]["efa"] = efa
    if custom:
        (tmp_path / "scripts").mkdir()
        (tmp_path / "scripts" / "on_create.sh").touch()
        content["lifecycle"] = {"source": "scripts"}
    file.write_text(yaml.safe_dump(content))
    template = synthesize(tmp_path / "out", tmp_path)["existing-storage", CLUSTER]
    assert bool(allowing(template, "fsx:DescribeFileSystems")) == allowed


def test_interfaces_can_be_created_in_overridden_networks(stack: StackTemplate, variants: Synthesized) -> None:
    """HyperPod uses the node role to create interfaces: without the right, nodes do not start."""
    [making] = allowing(variants["training-plan", CLUSTER], "ec2:CreateNetworkInterface")
    [before] = allowing(stack, "ec2:CreateNetworkInterface")
    added = [str(each) for each in making["Resource"] if each not in before["Resource"]]
    assert any(f"subnet/{OTHER_SUBNET}" in each for each in added)
    assert any(f"security-group/{OTHER_GROUP}" in each for each in added)


def test_nodes_read_no_secret_by_default(stack: StackTemplate) -> None:
    actions = {action for statement in statements(stack) for action in as_list(statement["Action"])}
    assert not [action for action in actions if action.startswith(("secretsmanager:", "kms:"))]
