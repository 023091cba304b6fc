"""What the roles of a cluster are refused, by the evaluator of the embedded AWS."""

import re
from functools import reduce
from typing import Any

from local_aws.iam.policy import Attempt, Principal, Verdict, judge
from tests.synth.synthesized import CLUSTER, StackTemplate, Synthesized, resolved
from tests.synth.variants import SECRET

ACCOUNT = "123456789012"
CLUSTER_ARN = f"arn:aws:sagemaker:REGION:{ACCOUNT}:cluster/abcdefghijkl"
STEP = "ClusterProviderStepAccess"


def named(reference: dict[str, Any]) -> Any:
    """Return the account, or the name that a reference contains."""
    match reference:
        case {"Ref": "AWS::AccountId"}:
            return ACCOUNT
        case {"Ref": name} | {"Fn::GetAtt": [name, _]} | {"Fn::GetStackOutput": {"OutputName": name}}:
            return name
    return reference


def allows(stack: StackTemplate, role: str, action: str, resource: str, **context: str) -> bool:
    """Return whether the role may do the action on the resource."""
    found = [resolved(each, named) for name, each in stack.statements() if name.startswith(role)]
    assert found
    [region] = set(re.findall(r"arn:aws:logs:([a-z0-9-]+):", str(found)))
    keys = {name.lower(): (value.replace("REGION", region),) for name, value in context.items()}
    return judge(found, Attempt(Principal(ACCOUNT), action, resource.replace("REGION", region), keys)) is Verdict.ALLOW


def tags(kind: str, stack: StackTemplate) -> dict[str, str]:
    """Return the stack's ownership tags as condition keys."""
    cluster, _ = stack.one("Custom::HyperPodCluster")
    return {f"aws:{kind}/hyperpod-cdk:stack-id": "AWS::StackId", f"aws:{kind}/hyperpod-cdk:logical-id": cluster}


CREATION = {"sagemaker:TaggingAction": "CreateCluster"}
NODE_CHANGES = ("BatchAddClusterNodes", "BatchDeleteClusterNodes")
CHANGES = ("AddTags", "DeleteTags", "DeleteCluster", "UpdateCluster", "UpdateClusterSoftware", *NODE_CHANGES)


def test_the_function_tags_and_changes_only_clusters_that_it_creates(shipped: Synthesized) -> None:
    for name in shipped.clusters:
        stack = shipped[name, CLUSTER]
        ours = tags("RequestTag", stack)
        assert allows(stack, STEP, "sagemaker:CreateCluster", CLUSTER_ARN, **ours)
        assert allows(stack, STEP, "sagemaker:AddTags", CLUSTER_ARN, **ours, **CREATION)
        assert not allows(stack, STEP, "sagemaker:AddTags", CLUSTER_ARN, **ours)
        assert not allows(stack, STEP, "sagemaker:DeleteCluster", CLUSTER_ARN)
        assert not allows(stack, STEP, "sagemaker:CreateCluster", CLUSTER_ARN)
        for action in CHANGES:
            other = {"aws:ResourceTag/hyperpod-cdk:stack-id": "other", "aws:ResourceTag/hyperpod-cdk:logical-id": "Cluster"}
            assert not allows(stack, STEP, f"sagemaker:{action}", CLUSTER_ARN, **ours, **other)


NODES, CONTROLLERS = "NodeRole", "ControllerRole"
INTERFACE = f"arn:aws:ec2:REGION:{ACCOUNT}:network-interface/eni-1"
REMOVALS = (
    "DetachNetworkInterface",
    "DeleteNetworkInterface",
    "CreateNetworkInterfacePermission",
    "DeleteNetworkInterfacePermission",
)


def subnet(stack: StackTemplate) -> str:
    """Return the ARN of a subnet of the cluster."""
    found = [resolved(each, named) for name, each in stack.statements() if name.startswith(NODES)]
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


POINTER, LOGS = "arn:aws:ssm:REGION:ACCOUNT:parameter/hyperpod-cdk", "arn:aws:logs:REGION:ACCOUNT:log-group:"
SCRIPT, INSTANCE = "BUCKET/lifecycle/hash/fs-1/on_create.sh", "arn:aws:ec2:REGION:ACCOUNT:instance/i-1"
ROLE, FUNCTION = "arn:aws:iam::ACCOUNT:role/NodeRole", "arn:aws:lambda:REGION:ACCOUNT:function:ClusterProviderStep"
NEEDED = (("s3:GetObject", SCRIPT), ("logs:PutLogEvents", f"{LOGS}/aws/sagemaker/Clusters/NAME-123456789012/id:log-stream:a/i-1"))
REFUSED = {
    "scripts and pointers, which root of all nodes runs": (
        *((f"s3:{action}", SCRIPT) for action in ("PutObject", "PutObjectAcl", "DeleteObject", "DeleteObjectVersion")),
        *((f"s3:{action}", "BUCKET") for action in ("PutBucketPolicy", "DeleteBucketPolicy", "PutLifecycleConfiguration")),
        ("s3:PutObject", "arn:aws:s3:::cdk-hnb659fds-assets-ACCOUNT-REGION/hash.zip"),
        *((f"ssm:{action}", f"{POINTER}/NAME/bundle") for action in ("PutParameter", "DeleteParameter")),
        *((f"lambda:{action}", FUNCTION) for action in ("InvokeFunction", "UpdateFunctionCode")),
    ),
    "what belongs to other clusters": (
        ("ssm:GetParameter", f"{POINTER}/other/bundle"),
        ("s3:GetObject", "arn:aws:s3:::sagemaker-other-ACCOUNT-REGION/lifecycle/hash/on_create.sh"),
        *(
            (f"logs:{action}", f"{LOGS}/hyperpod-cdk/other/nodes:log-stream:a/i-1")
            for action in ("CreateLogStream", "PutLogEvents")
        ),
        ("logs:PutLogEvents", f"{LOGS}/aws/sagemaker/Clusters/NAME-prod-123456789012/id:log-stream:a/i-1"),
        ("secretsmanager:GetSecretValue", "arn:aws:secretsmanager:REGION:ACCOUNT:secret:other-123456"),
        ("kms:Decrypt", "arn:aws:kms:REGION:ACCOUNT:key/other"),
        ("ecr:PutImage", "arn:aws:ecr:REGION:ACCOUNT:repository/other"),
    ),
    "traces": tuple((f"logs:{each}", f"{LOGS}/hyperpod-cdk/NAME/nodes") for each in ("DeleteLogGroup", "PutRetentionPolicy")),
    "other nodes": (
        *(
            (f"sagemaker:{action}", CLUSTER_ARN)
            for action in ("UpdateCluster", "UpdateClusterSoftware", "DeleteCluster", "AddTags")
        ),
        *((f"sagemaker:Batch{action}ClusterNodes", CLUSTER_ARN) for action in ("Add", "Delete", "Reboot", "Replace")),
        *(("ssm:StartSession", each) for each in (CLUSTER_ARN, INSTANCE)),
        *(("ssm:SendCommand", each) for each in (INSTANCE, "arn:aws:ssm:REGION::document/AWS-RunShellScript")),
        *((f"ec2:{action}", INSTANCE) for action in ("RunInstances", "TerminateInstances")),
        ("fsx:DeleteFileSystem", "arn:aws:fsx:REGION:ACCOUNT:file-system/fs-1"),
    ),
    "other roles": (
        *((f"iam:{action}", ROLE) for action in ("PassRole", "PutRolePolicy", "AttachRolePolicy", "UpdateAssumeRolePolicy")),
        *(("sts:AssumeRole", each) for each in (ROLE, "arn:aws:iam::ACCOUNT:role/cdk-hnb659fds-deploy-role-ACCOUNT-REGION")),
    ),
}


def test_nodes_and_controllers_are_refused_what_is_not_theirs(shipped: Synthesized) -> None:
    for name in shipped.clusters:
        stack = shipped[name, CLUSTER]
        bucket, _ = stack.one("AWS::S3::Bucket")
        own = {"ACCOUNT": ACCOUNT, "NAME": name, "BUCKET": bucket}
        for role in {role for role, _ in stack.statements() if role.startswith((NODES, CONTROLLERS))}:
            for rows, expected in ((NEEDED, True), *((rows, False) for rows in REFUSED.values())):
                for action, resource in rows:
                    asked = reduce(lambda text, each: text.replace(*each), own.items(), resource)
                    assert allows(stack, role, action, asked, **{"aws:ResourceAccount": ACCOUNT}) is expected, (
                        f"{name}: {role}: {action} on {asked}"
                    )


def test_only_controllers_read_the_password_of_the_accounting_database(variants: Synthesized) -> None:
    stack, action = variants["own-role", CLUSTER], "secretsmanager:GetSecretValue"
    assert allows(stack, CONTROLLERS, action, SECRET)
    assert not allows(stack, NODES, action, SECRET)
