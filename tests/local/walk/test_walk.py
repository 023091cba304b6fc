"""The whole path of a user, with the real command line."""

import json
import re
from typing import Any

import pytest
import yaml
from botocore.exceptions import ClientError

from local_aws import iam
from local_aws.testing import ACCOUNT, Client, ask
from tests.local.walk.leftovers import leftovers
from tests.local.walk.principals import (
    no_node_changes_the_interfaces_of_a_file_system,
    no_reader_of_the_account_can_answer_cloudformation,
    the_step_function_takes_no_existing_cluster,
)
from tests.local.walk.workspace import Workspace

CLUSTER_FILE = "clusters/reference.yaml"
LOGIN_GROUP = """  - name: login-group
    role: login
    instance_type: ml.m5.xlarge
    instance_count: 1
"""
POINTER = "/hyperpod-cdk/reference/bundle"
SCRIPT = "lifecycle_assets/lifecycle_script.py"

pytestmark = [pytest.mark.cdk, pytest.mark.local]


def sent(operation: str) -> list[dict[str, Any]]:
    """The requests for ``operation`` that the embedded SageMaker accepted."""
    return [each["request"] for each in ask("requests") if (each["service"], each["operation"]) == ("sagemaker", operation)]


def groups(client: Client) -> dict[str, dict[str, Any]]:
    """The groups of the one cluster that there is."""
    sagemaker = client("sagemaker")
    [cluster] = sagemaker.list_clusters()["ClusterSummaries"]
    described = sagemaker.describe_cluster(ClusterName=cluster["ClusterName"])
    assert described["ClusterStatus"] == "InService"
    return {group["InstanceGroupName"]: group for group in described["InstanceGroups"]}


def nodes(client: Client) -> set[str]:
    """The ids of all nodes of the one cluster that there is."""
    sagemaker = client("sagemaker")
    [cluster] = sagemaker.list_clusters()["ClusterSummaries"]
    listed = sagemaker.list_cluster_nodes(ClusterName=cluster["ClusterName"])["ClusterNodeSummaries"]
    return {node["InstanceId"] for node in listed if node["InstanceStatus"]["Status"] == "Running"}


def pointer(client: Client) -> dict[str, Any]:
    """The bundle of scripts that running nodes follow."""
    value: dict[str, Any] = json.loads(client("ssm").get_parameter(Name=POINTER)["Parameter"]["Value"])
    return value


def changes(diff: str) -> list[str]:
    """What `cdk diff` shows as changed, added or removed, without the frame of its tree."""
    return [line.strip(" │├└─") for line in diff.splitlines() if re.search(r"\[[-+~]\]", line)]


def test_a_cluster_is_deployed_changed_and_destroyed_by_the_real_command_line(workspace: Workspace, client: Client) -> None:
    workspace.deploy()
    the_request_is_the_reference_request()
    assert pointer(client)["reach"] == {"roles": ["controller", "login"], "compute_percent": 100, "instances": []}
    assert "compute-nodes       compute     ml.trn1.32xlarge  4 of 4  InService" in workspace.run(
        "python", "-m", "cli", "status", "reference"
    )
    no_role_of_the_account_writes_the_scripts(client)
    no_reader_of_the_account_can_answer_cloudformation(client)
    no_node_changes_the_interfaces_of_a_file_system(client)
    the_step_function_takes_no_existing_cluster(client)
    hyperpods_log_group_is_monitored(client)
    a_count_is_one_field_in_the_diff_and_changes_in_place(workspace, client)
    workspace.destroy()
    assert client("sagemaker").list_clusters()["ClusterSummaries"] == []
    assert client("ssm").get_parameters(Names=[POINTER])["InvalidParameters"] == [POINTER]


@pytest.mark.long
def test_groups_scripts_and_file_systems_change_and_what_a_destroy_keeps_is_used_again(
    workspace: Workspace, client: Client
) -> None:
    workspace.deploy()
    a_group_taken_out_of_the_file_is_removed(workspace, client)
    a_changed_script_moves_the_prefix_and_replaces_no_node(workspace, client)
    a_replaced_file_system_reaches_the_nodes_scripts(workspace, client)
    what_a_destroy_leaves_serves_the_next_deployment(workspace, client)


def the_request_is_the_reference_request() -> None:
    [request] = sent("CreateCluster")
    # The differences, each by its name: tags of ownership, a generated name, and the values of role, scripts, subnet and group.
    assert {tag["Key"] for tag in request.pop("Tags")} == {
        f"hyperpod-cdk:{key}" for key in ("cluster", "stack-id", "logical-id", "version")
    }
    assert re.fullmatch(r"reference-[0-9a-f]+", request.pop("ClusterName"))
    assert re.fullmatch(r"subnet-\w+", request["VpcConfig"].pop("Subnets")[0])
    assert re.fullmatch(r"sg-\w+", request["VpcConfig"].pop("SecurityGroupIds")[0])
    assert request.pop("VpcConfig") == {}
    for group in request["InstanceGroups"]:
        assert re.fullmatch(r"arn:aws:iam::\d+:role/reference-Cluster-NodeRole\w+-\w+", group.pop("ExecutionRole"))
        assert re.fullmatch(r"s3://sagemaker-[\w-]+/lifecycle/\w+/fs-\w+/", group["LifeCycleConfig"].pop("SourceS3Uri"))
    shared = {"LifeCycleConfig": {"OnCreate": "on_create.sh"}, "ThreadsPerCore": 1}
    assert request == {
        "InstanceGroups": [
            {"InstanceGroupName": "controller-machine", "InstanceType": "ml.c5.xlarge", "InstanceCount": 1, **shared},
            {"InstanceGroupName": "login-group", "InstanceType": "ml.m5.xlarge", "InstanceCount": 1, **shared},
            {"InstanceGroupName": "compute-nodes", "InstanceType": "ml.trn1.32xlarge", "InstanceCount": 4, **shared},
        ]
    }


def hyperpods_log_group_is_monitored(client: Client) -> None:
    """Its name ends in the cluster's ID, and the nodes create it."""
    [cluster] = client("sagemaker").list_clusters()["ClusterSummaries"]
    group = f"/aws/sagemaker/Clusters/{cluster['ClusterName']}/{cluster['ClusterArn'].rpartition('/')[2]}"
    filters = client("logs").describe_metric_filters(logGroupName=group)["metricFilters"]
    assert [each["metricTransformations"][0]["metricName"] for each in filters] == ["health-events"]


def no_role_of_the_account_writes_the_scripts(client: Client) -> None:
    """AWS lets Canvas users write to every bucket with `sagemaker` in its name; these scripts run as root."""
    trust = {"Effect": "Allow", "Principal": {"Service": "sagemaker.amazonaws.com"}, "Action": "sts:AssumeRole"}
    document = json.dumps({"Version": "2012-10-17", "Statement": [trust]})
    arn = client("iam").create_role(RoleName="canvas", AssumeRolePolicyDocument=document)["Role"]["Arn"]
    policy = "arn:aws:iam::aws:policy/AmazonSageMakerCanvasFullAccess"
    client("iam").attach_role_policy(RoleName="canvas", PolicyArn=policy)
    session = iam.assume(ACCOUNT, arn, "sagemaker.amazonaws.com", "SageMaker")
    keys = {"aws_access_key_id": session.access_key, "aws_secret_access_key": session.secret_key}
    s3 = client("s3", **keys, aws_session_token=session.token)
    bucket, _, prefix = source_uri(client).removeprefix("s3://").partition("/")
    with pytest.raises(ClientError, match="with an explicit deny in a resource-based policy"):
        s3.put_object(Bucket=bucket, Key=f"{prefix}lifecycle_script.py", Body=b"mine")
    with pytest.raises(ClientError, match="with an explicit deny in a resource-based policy"):
        s3.delete_object(Bucket=bucket, Key=f"{prefix}lifecycle_script.py")
    client("iam").detach_role_policy(RoleName="canvas", PolicyArn=policy)
    client("iam").delete_role(RoleName="canvas")


def a_count_is_one_field_in_the_diff_and_changes_in_place(workspace: Workspace, client: Client) -> None:
    before = nodes(client)
    workspace.replace(CLUSTER_FILE, "instance_count: 4", "instance_count: 6")
    shown = changes(workspace.cdk("diff", "reference/*"))
    assert shown[0].startswith("[~] Custom::HyperPodCluster ")
    assert shown[1:] == ["[~] Request", "[~] .InstanceGroups:", '[-]   "InstanceCount": 4,', '[+]   "InstanceCount": 6,']
    workspace.deploy()
    assert groups(client)["compute-nodes"]["CurrentCount"] == 6
    assert before < nodes(client)


def a_group_taken_out_of_the_file_is_removed(workspace: Workspace, client: Client) -> None:
    workspace.replace(CLUSTER_FILE, LOGIN_GROUP, "")
    workspace.deploy()
    assert set(groups(client)) == {"controller-machine", "compute-nodes"}
    assert sent("UpdateCluster")[-1]["InstanceGroupsToDelete"] == ["login-group"]


def a_changed_script_moves_the_prefix_and_replaces_no_node(workspace: Workspace, client: Client) -> None:
    before, uri, old = nodes(client), source_uri(client), pointer(client)
    workspace.replace(SCRIPT, "lifecycle script done", "lifecycle script has run")
    printed = workspace.deploy()
    assert source_uri(client) != uri
    new = pointer(client)
    assert source_uri(client) == f"s3://{new['bucket']}/{new['prefix']}/"
    assert new["generation"] > old["generation"]
    assert new["sha256"] != old["sha256"]
    # Nodes that only check the permissions of the lifecycle scripts have no agent.
    assert f"applied on 0 of 0 nodes; {len(before)} without agent: i-" in printed
    assert nodes(client) == before
    assert "has run" in script_at(client, source_uri(client))
    assert "has run" not in script_at(client, uri), "the old prefix stays for the nodes that were made with it"


def a_replaced_file_system_reaches_the_nodes_scripts(workspace: Workspace, client: Client) -> None:
    [old] = client("fsx").describe_file_systems()["FileSystems"]
    workspace.replace(CLUSTER_FILE, "deployment_type: PERSISTENT_2", "deployment_type: PERSISTENT_1")
    workspace.replace(CLUSTER_FILE, "throughput_mbps_per_tib: 250", "throughput_mbps_per_tib: 200")
    workspace.deploy()
    systems = client("fsx").describe_file_systems()["FileSystems"]
    [new] = [system for system in systems if system["FileSystemId"] != old["FileSystemId"]]
    assert len(systems) == 2, "the replaced file system is retained: it holds data"
    assert source_uri(client).endswith(f"/{new['FileSystemId']}/")
    parameters = yaml.safe_load(read(client, source_uri(client), "provisioning_parameters.json"))
    assert parameters["fsx_dns_name"] == new["DNSName"]
    assert parameters["fsx_mountname"] == new["LustreConfiguration"]["MountName"]
    [association] = client("fsx").describe_data_repository_associations()["Associations"]
    assert association["FileSystemId"] == new["FileSystemId"]
    client("fsx").delete_file_system(FileSystemId=old["FileSystemId"])


def what_a_destroy_leaves_serves_the_next_deployment(workspace: Workspace, client: Client) -> None:
    workspace.destroy()
    left = leftovers(client)
    logs = left.pop("log group")
    assert all(name.startswith("/aws/sagemaker/Clusters/reference-") for name in logs), "HyperPod's own, with its reasons"
    kinds = {"vpc", "subnet", "security group", "network interface", "file system", "bucket"}
    assert set(left) == kinds, f"besides data and what holds it, a destroy left {left}"
    assert [len(left[kind]) for kind in ("vpc", "subnet", "security group", "file system", "bucket")] == [1] * 5

    reused = yaml.safe_load(workspace.run("python", "-m", "cli", "retained", "reference"))
    path = workspace.folder / CLUSTER_FILE
    file = yaml.safe_load(path.read_text())
    file |= reused
    path.write_text(yaml.safe_dump(file, sort_keys=False))
    workspace.deploy()
    assert source_uri(client).endswith(f"/{left['file system'][0]}/")
    workspace.destroy()
    assert {kind: ids for kind, ids in leftovers(client).items() if kind != "log group"} == left, (
        "what is used by a cluster but not made by it is left as it was"
    )


def source_uri(client: Client) -> str:
    """Where new workers find their scripts."""
    uri: str = groups(client)["compute-nodes"]["LifeCycleConfig"]["SourceS3Uri"]
    return uri


def script_at(client: Client, uri: str) -> str:
    """The main script below ``uri``."""
    return read(client, uri, "lifecycle_script.py")


def read(client: Client, uri: str, name: str) -> str:
    """The text of an object below ``uri``."""
    bucket, _, prefix = uri.removeprefix("s3://").partition("/")
    body: bytes = client("s3").get_object(Bucket=bucket, Key=prefix + name)["Body"].read()
    return body.decode()
