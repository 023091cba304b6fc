import json
import re
from typing import Any

import pytest
from botocore.exceptions import ClientError

from local_aws import durations
from local_aws.credentials import OWNER
from local_aws.nodes import session_manager_plugin
from tests.simulator.hyperpod.world import REGION, World

pytestmark = pytest.mark.local


@pytest.mark.parametrize(
    "action", ["ec2:CreateNetworkInterface", "ec2:CreateNetworkInterfacePermission", "ec2:DescribeDhcpOptions"]
)
def test_a_role_that_may_not_make_interfaces_fails_the_cluster_with_the_actions_name(world: World, action: str) -> None:
    world.allow_all_but(action)
    seen = world.in_service(world.group("a"))
    assert seen["ClusterStatus"] == "Failed"
    assert f"does not have permission to perform: {action}" in seen["FailureMessage"]
    assert world.interfaces() == []


def test_a_role_whose_policy_went_first_wedges_the_deletion_until_it_is_back(world: World) -> None:
    world.in_service(world.group("a"))
    world.allow_all_but("ec2:DeleteNetworkInterface")
    world.sagemaker.delete_cluster(ClusterName="ml")
    messages = world.until(lambda: [node["InstanceStatus"]["Message"] for node in world.nodes()], all)
    assert "does not have permission to perform: ec2:DeleteNetworkInterface on arn:aws:ec2:" in messages[0]
    assert world.cluster()["ClusterStatus"] == "Deleting"
    assert len(world.interfaces()) == 1
    world.allow_all_but()
    world.until_gone()


@pytest.mark.parametrize("action", ["DetachNetworkInterface", "DeleteNetworkInterfacePermission", "DeleteNetworkInterface"])
def test_interfaces_in_another_subnet_than_the_roles_are_not_removed(world: World, action: str) -> None:
    world.in_service(world.group("a"))
    world.allow_all_but(f"ec2:{action}")
    elsewhere = {"ArnEquals": {"ec2:Subnet": "arn:aws:ec2:us-west-2:*:subnet/subnet-00000000000000001"}}
    allow = {"Effect": "Allow", "Action": f"ec2:{action}", "Resource": "*", "Condition": elsewhere}
    document = json.dumps({"Version": "2012-10-17", "Statement": [allow]})
    world.client("iam").put_role_policy(RoleName="nodes", PolicyName="elsewhere", PolicyDocument=document)
    world.sagemaker.delete_cluster(ClusterName="ml")
    messages = world.until(lambda: [node["InstanceStatus"]["Message"] for node in world.nodes()], all)
    assert f"does not have permission to perform: ec2:{action} on arn:aws:ec2:" in messages[0]
    assert len(world.interfaces()) == 1
    world.client("iam").delete_role_policy(RoleName="nodes", PolicyName="elsewhere")
    world.allow_all_but()
    world.until_gone()


def test_interfaces_are_detached_with_the_right_to_instances_too(world: World) -> None:
    world.in_service(world.group("a"))
    world.allow_all_but("ec2:DetachNetworkInterface")
    world.allow("ec2:DetachNetworkInterface", resource="arn:aws:ec2:*:*:network-interface/*", name="interfaces alone")
    world.sagemaker.delete_cluster(ClusterName="ml")
    messages = world.until(lambda: [node["InstanceStatus"]["Message"] for node in world.nodes()], all)
    assert "does not have permission to perform: ec2:DetachNetworkInterface on arn:aws:ec2:" in messages[0]
    assert ":instance/i-" in messages[0]
    world.allow_all_but()
    world.until_gone()
    world.client("iam").delete_role_policy(RoleName="nodes", PolicyName="interfaces alone")


CHANNELS = tuple(f"ssmmessages:{verb}{kind}Channel" for verb in ("Create", "Open") for kind in ("Control", "Data"))


@pytest.mark.parametrize(("missing", "status"), [((), "connected"), *(((action,), "notconnected") for action in CHANNELS)])
def test_session_manager_reaches_nodes_whose_role_may_open_channels(world: World, missing: tuple[str, ...], status: str) -> None:
    world.allow(*(action for action in CHANNELS if action not in missing), name="channels")
    cluster = world.in_service(world.group("a"))
    [node] = world.nodes()
    target = f"sagemaker-cluster:{cluster['ClusterArn'].rsplit('/', 1)[1]}_a-{node['InstanceId']}"
    ssm = world.client("ssm")
    assert ssm.get_connection_status(Target=target)["Status"] == status
    if status == "connected":
        session = ssm.start_session(
            Target=target, DocumentName="AWS-StartNonInteractiveCommand", Parameters={"command": ["true"]}
        )
        assert session["StreamUrl"].startswith(f"wss://ssmmessages.{REGION}.amazonaws.com/v1/data-channel/{session['SessionId']}")
        assert ssm.terminate_session(SessionId=session["SessionId"])["SessionId"] == session["SessionId"]
        with pytest.raises(ClientError, match="InvalidDocument"):
            ssm.start_session(Target=target, DocumentName="AWS-StartNothing")
    else:
        with pytest.raises(
            ClientError, match=re.escape(f"(TargetNotConnected) when calling the StartSession operation: {target} is not")
        ):
            ssm.start_session(Target=target)
    world.client("iam").delete_role_policy(RoleName="nodes", PolicyName="channels")


def test_without_simulated_nodes_the_plugin_says_so_in_one_line(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.allow(*CHANNELS, name="channels")
    cluster = world.in_service(world.group("a"))
    request = {"Target": f"sagemaker-cluster:{cluster['ClusterArn'].rsplit('/', 1)[1]}_a-{world.nodes()[0]['InstanceId']}"}
    monkeypatch.setenv("SESSION", json.dumps(world.client("ssm").start_session(**request)))
    monkeypatch.setenv("LOCAL_AWS_TOKEN", OWNER.control_token)
    with pytest.raises(SystemExit, match=r"^this embedded AWS does not run the node; "):
        session_manager_plugin.main(["SESSION", REGION, "StartSession", "", json.dumps(request), world.endpoint])
    world.client("iam").delete_role_policy(RoleName="nodes", PolicyName="channels")


def test_session_manager_reaches_no_node_that_is_not_there(world: World) -> None:
    target = "sagemaker-cluster:abcdefghijkl_a-i-00000000000000000"
    assert world.client("ssm").get_connection_status(Target=target)["Status"] == "notconnected"
    with pytest.raises(ClientError, match="TargetNotConnected"):
        world.client("ssm").start_session(Target=target)


def test_a_role_that_may_not_read_the_scripts_fails_the_nodes(world: World) -> None:
    world.allow_all_but("s3:GetObject")
    seen = world.in_service(world.group("a"))
    assert seen["ClusterStatus"] == "Failed"
    assert (
        "is not authorized to perform s3:GetObject on arn:aws:s3:::sagemaker-scripts/lifecycle/1/on_create.sh"
        in seen["FailureMessage"]
    )


def streams(world: World, cluster: dict[str, Any]) -> dict[str, list[str]]:
    logs = world.client("logs")
    group = f"/aws/sagemaker/Clusters/ml/{cluster['ClusterArn'].rsplit('/', 1)[1]}"
    names = [stream["logStreamName"] for stream in logs.describe_log_streams(logGroupName=group)["logStreams"]]
    events = [logs.get_log_events(logGroupName=group, logStreamName=name)["events"] for name in names]
    return {name: [event["message"] for event in lines] for name, lines in zip(names, events, strict=True)}


def test_a_node_that_starts_writes_a_log_that_says_what_was_not_done(world: World) -> None:
    seen = streams(world, world.in_service(world.group("a")))
    assert list(seen) == [f"LifecycleConfig/a/{world.nodes()[0]['InstanceId']}"]
    assert next(iter(seen.values()))[-1] == "the embedded AWS checked the scripts but did not run them"


def test_a_node_that_fails_writes_why_and_the_cluster_says_where_to_look(world: World) -> None:
    scripts = {"SourceS3Uri": "s3://sagemaker-scripts/none/", "OnCreate": "on_create.sh"}
    cluster = world.in_service(world.group("a", LifeCycleConfig=scripts))
    stream, lines = next(iter(streams(world, cluster).items()))
    assert lines[-1] == "could not download s3://sagemaker-scripts/none/on_create.sh: there is no such object"
    assert f"log stream {stream} in log group /aws/sagemaker/Clusters/ml/" in cluster["FailureMessage"]
    assert world.nodes()[0]["InstanceStatus"]["Status"] == "Failure"


def test_a_role_that_may_not_write_logs_has_none(world: World) -> None:
    world.allow_all_but("logs:CreateLogStream")
    cluster = world.in_service(world.group("a"))
    assert cluster["ClusterStatus"] == "InService"
    groups = world.client("logs").describe_log_groups(
        logGroupNamePrefix=f"/aws/sagemaker/Clusters/ml/{cluster['ClusterArn'][-12:]}"
    )
    assert groups["logGroups"] == []


def test_an_efa_type_takes_as_many_addresses_as_it_has_interfaces(world: World) -> None:
    world.in_service(world.group("a", 2, InstanceType="ml.trn1.32xlarge"))
    assert len(world.interfaces()) == 16


def test_an_efa_type_needs_the_group_to_let_all_of_its_own_traffic_through(world: World) -> None:
    group = world.ec2.create_security_group(VpcId=world.ids["vpc"], GroupName="half", Description="half")["GroupId"]
    itself = [{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": group}]}]
    world.ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=itself)
    vpc = {**world.vpc(), "SecurityGroupIds": [group]}
    seen = world.in_service(world.group("a", InstanceType="ml.trn1.32xlarge"), VpcConfig=vpc)
    assert "EFA health checks did not run successfully" in seen["FailureMessage"]
    world.sagemaker.delete_cluster(ClusterName="ml")
    world.until_gone()
    assert world.in_service(world.group("a"), VpcConfig=vpc)["ClusterStatus"] == "InService"
    world.sagemaker.delete_cluster(ClusterName="ml")
    world.until_gone()
    world.ec2.delete_security_group(GroupId=group)


def test_a_subnet_without_addresses_fails_the_cluster_and_leaves_no_interface(world: World) -> None:
    small = world.ec2.create_subnet(VpcId=world.ids["vpc"], CidrBlock="10.1.7.0/28")["Subnet"]["SubnetId"]
    seen = world.in_service(world.group("a", 12), VpcConfig={**world.vpc(), "Subnets": [small]})
    assert f"subnet {small} (10.1.7.0/28) has 0 free addresses, 1 are needed" in seen["FailureMessage"]
    assert world.interfaces() == []
    world.ec2.delete_subnet(SubnetId=small)


def test_every_node_has_an_address_of_its_own_in_the_subnet(world: World) -> None:
    world.in_service(world.group("a", 3))
    nodes = [world.sagemaker.describe_cluster_node(ClusterName="ml", NodeId=node["InstanceId"]) for node in world.nodes()]
    details = [node["NodeDetails"] for node in nodes]
    assert {one["PrivatePrimaryIp"] for one in details} == {i["PrivateIpAddress"] for i in world.interfaces()}
    assert {one["Placement"]["AvailabilityZone"] for one in details} == {"us-west-2a"}
    for one in details:
        dashed = one["PrivatePrimaryIp"].replace(".", "-")
        assert one["PrivateDnsHostname"] == f"ip-{dashed}.us-west-2.compute.internal"


def test_a_role_limited_to_the_clusters_own_subnet_and_group_is_enough(world: World) -> None:
    subnet = f"arn:aws:ec2:us-west-2:123456789012:subnet/{world.ids['subnet']}"
    group = f"arn:aws:ec2:us-west-2:123456789012:security-group/{world.ids['security_group']}"
    interfaces = "arn:aws:ec2:us-west-2:123456789012:network-interface/*"
    allow = [
        (["ec2:Describe*"], "*", {}),
        (["ec2:CreateNetworkInterface"], [subnet, group, interfaces], {}),
        (["ec2:CreateTags"], interfaces, {}),
        (
            ["ec2:CreateNetworkInterfacePermission", "ec2:DeleteNetworkInterface*", "ec2:DetachNetworkInterface"],
            interfaces,
            {"ArnEquals": {"ec2:Subnet": subnet}},
        ),
        (["ec2:DetachNetworkInterface"], "arn:aws:ec2:us-west-2:*:instance/*", {}),
        (["s3:ListBucket"], "arn:aws:s3:::sagemaker-scripts", {}),
        (["s3:GetObject"], "arn:aws:s3:::sagemaker-scripts/lifecycle/*", {}),
    ]
    statements = [{"Effect": "Allow", "Action": a, "Resource": r, "Condition": c} for a, r, c in allow]
    document = json.dumps({"Version": "2012-10-17", "Statement": statements})
    world.client("iam").put_role_policy(RoleName="nodes", PolicyName="nodes", PolicyDocument=document)
    assert world.in_service(world.group("a"))["ClusterStatus"] == "InService"
    world.sagemaker.delete_cluster(ClusterName="ml")
    world.until_gone()


def test_a_deletion_that_cannot_go_on_is_tried_again_at_the_pace_of_the_table(world: World) -> None:
    durations.change({"hyperpod.delete.retry": 1e9})
    world.in_service(world.group("a"))
    world.allow_all_but("ec2:DetachNetworkInterface")
    world.sagemaker.delete_cluster(ClusterName="ml")
    world.until(lambda: [node["InstanceStatus"]["Message"] for node in world.nodes()], all)
    world.allow_all_but()
    assert world.cluster()["ClusterStatus"] == "Deleting"
