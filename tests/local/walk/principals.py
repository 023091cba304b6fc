"""What principals of the account are refused on a deployed cluster."""

import json
from types import SimpleNamespace

import pytest
from botocore.exceptions import ClientError

from config.tags import LOGICAL_ID_TAG, STACK_ID_TAG
from local_aws import iam
from local_aws.network_interfaces import ec2_of
from local_aws.testing import ACCOUNT, REGION, Client


def no_reader_of_the_account_can_answer_cloudformation(client: Client) -> None:
    """Neither ReadOnlyAccess nor the CDK's lookup role reads a signed address in an execution, a log or a template."""
    trust = {"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole"}
    document = json.dumps({"Version": "2012-10-17", "Statement": [trust]})
    reader = client("iam").create_role(RoleName="reader", AssumeRolePolicyDocument=document)["Role"]["Arn"]
    client("iam").attach_role_policy(RoleName="reader", PolicyArn="arn:aws:iam::aws:policy/ReadOnlyAccess")
    lookup = f"arn:aws:iam::{ACCOUNT}:role/cdk-hnb659fds-lookup-role-{ACCOUNT}-us-west-2"
    as_reader = client_of(client, iam.assume(ACCOUNT, reader, "lambda.amazonaws.com", "reader").client_keys)
    keys = client("sts").assume_role(RoleArn=lookup, RoleSessionName="lookup")["Credentials"]
    names = {"access_key_id": "AccessKeyId", "secret_access_key": "SecretAccessKey", "session_token": "SessionToken"}
    for read in (as_reader, client_of(client, {f"aws_{name}": keys[member] for name, member in names.items()})):
        machines = [each["stateMachineArn"] for each in read("stepfunctions").list_state_machines()["stateMachines"]]
        found = [each for arn in machines for each in read("stepfunctions").list_executions(stateMachineArn=arn)["executions"]]
        assert found
        for call in ("describe_execution", "get_execution_history"):
            with pytest.raises(ClientError, match=r"KmsAccessDenied.*kms:Decrypt"):
                getattr(read("stepfunctions"), call)(executionArn=found[0]["executionArn"])
    logs = client("logs")
    texts = [
        event["message"]
        for group in logs.describe_log_groups()["logGroups"]
        for event in logs.filter_log_events(logGroupName=group["logGroupName"])["events"]
    ]
    stacks = client("cloudformation").describe_stacks()["Stacks"]
    texts += [str(client("cloudformation").get_template(StackName=each["StackName"])["TemplateBody"]) for each in stacks]
    assert len(texts) > 10
    assert not any("Signature=" in text for text in texts)
    client("iam").detach_role_policy(RoleName="reader", PolicyArn="arn:aws:iam::aws:policy/ReadOnlyAccess")
    client("iam").delete_role(RoleName="reader")


def no_node_changes_the_interfaces_of_a_file_system(client: Client) -> None:
    """Who holds the node role tags interfaces of nodes, in the same subnet, and cannot cut the file system off."""
    ec2 = as_role(client, "NodeRole", "sagemaker.amazonaws.com")("ec2")
    tags = [{"Key": "mine", "Value": "1"}]
    [system] = client("fsx").describe_file_systems()["FileSystems"]
    interfaces = {each["NetworkInterfaceId"]: each for each in client("ec2").describe_network_interfaces()["NetworkInterfaces"]}
    [of_node, *_] = [name for name, each in interfaces.items() if "HyperPod" in each["Description"]]
    [of_system, *_] = system["NetworkInterfaceIds"]
    assert interfaces[of_node]["SubnetId"] == interfaces[of_system]["SubnetId"]
    ec2.create_tags(Resources=[of_node], Tags=tags)
    model = ec2_of(ACCOUNT, REGION).enis[of_system]
    model.attachment_id, model.instance = "eni-attach-1", SimpleNamespace(id="i-1", owner_id="amazon")  # of FSx's own instance
    refused = f"not authorized to perform: .*/{of_system} because no"
    with pytest.raises(ClientError, match=refused):
        ec2.create_tags(Resources=[of_system], Tags=tags)
    with pytest.raises(ClientError, match=refused):
        ec2.delete_network_interface(NetworkInterfaceId=of_system)
    with pytest.raises(ClientError, match=refused):
        ec2.detach_network_interface(AttachmentId="eni-attach-1")
    model.attachment_id = model.instance = None


def the_step_function_takes_no_existing_cluster(client: Client) -> None:
    """Its role neither claims nor deletes a cluster that has no owner, or another."""
    owner, step = client("sagemaker"), as_role(client, "ClusterProviderStepAccess", "lambda.amazonaws.com")("sagemaker")
    [cluster] = owner.list_clusters()["ClusterSummaries"]
    arn, keys = cluster["ClusterArn"], [STACK_ID_TAG, LOGICAL_ID_TAG]
    ours = [tag for tag in owner.list_tags(ResourceArn=arn)["Tags"] if tag["Key"] in keys]
    step.add_tags(ResourceArn=arn, Tags=[{"Key": "hyperpod-cdk:version", "Value": "1"}])
    for others in ([], [{"Key": key, "Value": "other"} for key in keys]):
        owner.delete_tags(ResourceArn=arn, TagKeys=keys)
        if others:
            owner.add_tags(ResourceArn=arn, Tags=others)
        with pytest.raises(ClientError, match="not authorized to perform: sagemaker:AddTags"):
            step.add_tags(ResourceArn=arn, Tags=ours)
        with pytest.raises(ClientError, match="not authorized to perform: sagemaker:DeleteCluster"):
            step.delete_cluster(ClusterName=cluster["ClusterName"])
    owner.add_tags(ResourceArn=arn, Tags=ours)


def as_role(client: Client, name: str, service: str) -> Client:
    """Clients with the credentials that the service gets for a role of the cluster."""
    roles = client("iam").get_paginator("list_roles").paginate().search("Roles[]")
    [arn] = [each["Arn"] for each in roles if f"-Cluster-{name}" in each["RoleName"]]
    return client_of(client, iam.assume(ACCOUNT, arn, service, "test").client_keys)


def client_of(client: Client, keys: dict[str, str]) -> Client:
    """Clients with other keys."""
    return lambda service, **more: client(service, **keys, **more)
