"""What the roles of a cluster are refused, by the evaluator of the embedded AWS."""

import re
from typing import Any

from local_aws.iam.policy import Attempt, Principal, Verdict, judge
from tests.synth.synthesized import CLUSTER, StackTemplate, Synthesized

ACCOUNT = "123456789012"
CLUSTER_ARN = f"arn:aws:sagemaker:REGION:{ACCOUNT}:cluster/abcdefghijkl"
STEP = "ClusterProviderStepAccess"


def resolved(value: Any) -> Any:
    """Return the value with references resolved to the account or to the name that they contain."""
    match value:
        case {"Ref": "AWS::AccountId"}:
            return ACCOUNT
        case {"Ref": str(name)} | {"Fn::GetAtt": [str(name), _]}:
            return name
        case {"Fn::GetStackOutput": {"OutputName": str(name)}}:
            return name
        case {"Fn::Join": [str(separator), list(parts)]}:
            return separator.join(map(resolved, parts))
        case dict():
            return {key: resolved(each) for key, each in value.items()}
        case list():
            return [resolved(each) for each in value]
    return value


def allows(stack: StackTemplate, role: str, action: str, resource: str, **context: str) -> bool:
    """Return whether the role may do the action on the resource."""
    found = [resolved(each) for name, each in stack.statements() if name.startswith(role)]
    assert found
    [region] = set(re.findall(r"arn:aws:logs:([a-z0-9-]+):", str(found)))
    keys = {name.lower(): (value.replace("REGION", region),) for name, value in context.items()}
    return judge(found, Attempt(Principal(ACCOUNT), action, resource.replace("REGION", region), keys)) is Verdict.ALLOW


def tags(kind: str, stack: StackTemplate) -> dict[str, str]:
    """Return the stack's ownership tags as condition keys."""
    cluster, _ = stack.one("Custom::HyperPodCluster")
    return {f"aws:{kind}/hyperpod-cdk:stack-id": "AWS::StackId", f"aws:{kind}/hyperpod-cdk:logical-id": cluster}


CREATION = {"sagemaker:TaggingAction": "CreateCluster"}


def test_the_function_tags_only_clusters_that_it_creates(shipped: Synthesized) -> None:
    for name in shipped.clusters:
        stack = shipped[name, CLUSTER]
        ours = tags("RequestTag", stack)
        assert allows(stack, STEP, "sagemaker:CreateCluster", CLUSTER_ARN, **ours)
        assert allows(stack, STEP, "sagemaker:AddTags", CLUSTER_ARN, **ours, **CREATION)
        assert not allows(stack, STEP, "sagemaker:AddTags", CLUSTER_ARN, **ours)
        assert not allows(stack, STEP, "sagemaker:DeleteCluster", CLUSTER_ARN)
        for action in ("AddTags", "DeleteCluster", "UpdateCluster", "UpdateClusterSoftware"):
            other = {"aws:ResourceTag/hyperpod-cdk:stack-id": "other", "aws:ResourceTag/hyperpod-cdk:logical-id": "Cluster"}
            assert not allows(stack, STEP, f"sagemaker:{action}", CLUSTER_ARN, **ours, **other)


NODES = "NodeRole"
INTERFACE = f"arn:aws:ec2:REGION:{ACCOUNT}:network-interface/eni-1"
REMOVALS = (
    "DetachNetworkInterface",
    "DeleteNetworkInterface",
    "CreateNetworkInterfacePermission",
    "DeleteNetworkInterfacePermission",
)


def subnet(stack: StackTemplate) -> str:
    """Return the ARN of a subnet of the cluster."""
    found = [resolved(each) for name, each in stack.statements() if name.startswith(NODES)]
    [one] = [each for each in found if each["Sid"] == "ManageNetworkInterfaces"]
    return str(one["Condition"]["ArnEquals"]["ec2:Subnet"][0]).replace(":*:", f":{ACCOUNT}:")


def test_nodes_change_only_interfaces_of_nodes_in_their_subnets(shipped: Synthesized) -> None:
    for name in shipped.clusters:
        stack = shipped[name, CLUSTER]
        place = {"ec2:Subnet": subnet(stack)}
        for action in (*REMOVALS, "CreateTags"):
            assert allows(stack, NODES, f"ec2:{action}", INTERFACE, **place)
            of_file_system = {"aws:ResourceTag/AmazonFSx.FileSystemId": "fs-1"}
            assert not allows(stack, NODES, f"ec2:{action}", INTERFACE, **place, **of_file_system)
            other = {"ec2:Subnet": f"arn:aws:ec2:REGION:{ACCOUNT}:subnet/subnet-other"}
            assert not allows(stack, NODES, f"ec2:{action}", INTERFACE, **other)


def test_nodes_create_and_tag_new_interfaces(shipped: Synthesized) -> None:
    """AWS does not document whether the tags of a creation are checked with the subnet."""
    for name in shipped.clusters:
        stack = shipped[name, CLUSTER]
        assert allows(stack, NODES, "ec2:CreateNetworkInterface", INTERFACE)
        assert allows(stack, NODES, "ec2:CreateTags", INTERFACE, **{"ec2:CreateAction": "CreateNetworkInterface"})
        assert not allows(stack, NODES, "ec2:CreateTags", INTERFACE, **{"ec2:CreateAction": "RunInstances"})


def test_nodes_read_no_other_secret_and_write_no_pointer(shipped: Synthesized) -> None:
    for name in shipped.clusters:
        stack = shipped[name, CLUSTER]
        secret = f"arn:aws:secretsmanager:REGION:{ACCOUNT}:secret:other-123456"
        assert not allows(stack, NODES, "secretsmanager:GetSecretValue", secret)
        pointer = f"arn:aws:ssm:REGION:{ACCOUNT}:parameter/hyperpod-cdk/{name}/bundle"
        assert not allows(stack, NODES, "ssm:PutParameter", pointer)
        group = f"arn:aws:logs:REGION:{ACCOUNT}:log-group:/hyperpod-cdk/other/nodes:log-stream:workers/i-1"
        assert not allows(stack, NODES, "logs:PutLogEvents", group)
