"""Scenarios that succeed with all rights and together need every right that can be tested."""

import uuid
from collections.abc import Callable
from copy import deepcopy
from typing import Any

from cluster_resource.pointer import Bundle
from config.tags import STACK_ID_TAG
from constructs.hyperpod.lifecycle.script_bundle import ScriptBundle
from local_aws.faults import Fault, order
from tests.privilege.account import Account
from tests.privilege.cloudformation import Json, Request
from tests.privilege.proofs import Scenario


def changed(properties: Json, change: Callable[[Any], None]) -> Json:
    """Return the properties with a changed request."""
    copy = deepcopy(properties)
    change(copy["Request"])
    return copy


def more_workers(count: int) -> Callable[[Any], None]:
    """Change the number of nodes in the last group."""

    def change(request: Any) -> None:
        request["InstanceGroups"][-1]["InstanceCount"] = str(count)

    return change


def scripts_in(prefix: str) -> Callable[[Any], None]:
    """Change the lifecycle scripts."""

    def change(request: Any) -> None:
        for group in request["InstanceGroups"]:
            bucket = group["LifeCycleConfig"]["SourceS3Uri"].split("/")[2]
            group["LifeCycleConfig"]["SourceS3Uri"] = f"s3://{bucket}/lifecycle/{prefix}/"

    return change


def creation(account: Account) -> None:
    """Create a cluster; nodes write logs and accept sessions."""
    account.done(account.cluster.create())
    cluster = account.client("sagemaker").describe_cluster(ClusterName=account.name)
    nodes = account.client("sagemaker").list_cluster_nodes(ClusterName=account.name)["ClusterNodeSummaries"]
    account.expect("nodes", len(nodes), 6)
    cluster_id = cluster["ClusterArn"].rsplit("/", 1)[1]
    group = f"/aws/sagemaker/Clusters/{account.name}/{cluster_id}"
    logs, ssm = account.client("logs"), account.client("ssm")
    groups = logs.describe_log_groups(logGroupNamePrefix=group)["logGroups"]
    account.expect("the nodes' log groups", len(groups), 1)
    streams = logs.describe_log_streams(logGroupName=group)["logStreams"]
    account.expect("log streams with something in them", sum("lastEventTimestamp" in stream for stream in streams), 6)
    for node in nodes:
        target = f"sagemaker-cluster:{cluster_id}_{node['InstanceGroupName']}-{node['InstanceId']}"
        account.expect(f"a session with {target}", ssm.get_connection_status(Target=target)["Status"], "connected")


def change(account: Account) -> None:
    """Change counts, groups, tags and scripts at once."""
    old = account.cluster.properties
    source = old["Request"]["InstanceGroups"][0]["LifeCycleConfig"]["SourceS3Uri"]
    bucket, key = source.split("/")[2], source.split("/", 3)[3]
    script = account.client("s3").get_object(Bucket=bucket, Key=f"{key}on_create.sh")["Body"].read()
    account.deploy_script(bucket, "lifecycle/other/on_create.sh", script)

    def edit(request: Any) -> None:
        scripts_in("other")(request)
        more_workers(5)(request)
        del request["InstanceGroups"][1]
        request["Tags"] = [tag for tag in request["Tags"] if tag["Key"] != "team"] + [{"Key": "cost-center", "Value": "42"}]

    new = changed(old, edit)
    # Later requests read the requests of earlier executions.
    account.done(account.cluster.update(account.name, old, old))
    recovering = changed(old, lambda request: request.update(NodeRecovery="Automatic"))
    account.done(account.cluster.update(account.name, recovering, old))
    account.done(account.cluster.update(account.name, new, recovering))
    cluster = account.client("sagemaker").describe_cluster(ClusterName=account.name)
    counts = {group["InstanceGroupName"]: group["CurrentCount"] for group in cluster["InstanceGroups"]}
    account.expect("the groups", counts, {"controller-machine": 1, "compute-nodes": 5})
    tags = account.tags(cluster["ClusterArn"])
    account.expect("the tags", (tags.get("team"), tags.get("cost-center")), (None, "42"))


def overtaking(account: Account) -> None:
    """Send a newer request while one is processed."""
    first = _updating(account)
    properties = account.cluster.properties
    second = account.cluster.update(account.name, properties, changed(properties, more_workers(6)))
    account.failed(first, "superseded")
    account.done(second)
    # If the entry failed, the responder would stop the older one a minute later.
    account.expect("failures of the entry", account.failures("Entry"), 0)


def stopped_execution(account: Account) -> None:
    """Stop the execution as an operator."""
    request = _updating(account)
    [execution] = account.running()
    account.client("stepfunctions").stop_execution(executionArn=execution, error="Operator", cause="by hand")
    account.failed(request, "ended as ABORTED", "by hand")


def entry_that_cannot_start(account: Account) -> None:
    """Keep the entry from starting an execution; the responder starts one that fails the request and blocks a late start."""
    order(
        Fault("states:StartExecution", code="AccessDeniedException", message="injected", caller=account.roles["Entry"], times=99)
    )
    properties = account.cluster.properties
    request = account.cluster.update(account.name, properties, properties)
    account.failed(request, "the entry function failed to start the request")
    account.expect("the request's executions", len(account.executions_of(request)), 1)


def entry_that_cannot_stop(account: Account) -> None:
    """Keep the entry from stopping the older execution."""
    first = _updating(account)
    order(
        Fault("states:StopExecution", code="AccessDeniedException", message="injected", caller=account.roles["Entry"], times=99)
    )
    properties = account.cluster.properties
    second = account.cluster.update(account.name, properties, changed(properties, more_workers(6)))
    account.failed(first, "superseded")
    account.done(second)


def failing_nodes(account: Account) -> None:
    """Let nodes fail; the response quotes their log."""
    request = account.cluster.create(changed(account.cluster.properties, scripts_in("nowhere")))
    account.failed(request, "last lines of LifecycleConfig/", "there is no such object")


def failing_nodes_of_a_continuous_cluster(account: Account) -> None:
    """Let nodes of a continuous cluster fail; the function reads the cluster's events, which repeat the reason."""

    def edit(request: Any) -> None:
        scripts_in("nowhere")(request)
        request["NodeProvisioningMode"] = "Continuous"
        request["Orchestrator"] = {"Slurm": {}}
        kinds = ({"NodeType": "Controller"}, {"NodeType": "Login"}, {"NodeType": "Compute", "PartitionNames": ["dev"]})
        for group, kind in zip(request["InstanceGroups"], kinds, strict=True):
            group["SlurmConfig"] = kind

    reason = account.failed(account.cluster.create(changed(account.cluster.properties, edit)), "there is no such object")
    account.expect("parts that could not be read", reason.count("could not be read"), 0)


def rollout(account: Account) -> None:
    """Move running nodes to other scripts; one node reads the pointer and reports."""
    old = account.rollout.properties
    new = {**old, "Prefix": f"lifecycle/{uuid.uuid4().hex}/local"}
    files = {"on_create.sh": new["Prefix"].encode()}
    new["Fingerprint"] = ScriptBundle(files).fingerprint
    for name, content in {**files, "provisioning_parameters.json": old["Parameters"].encode()}.items():
        account.deploy_script(old["Bucket"], f"{new['Prefix']}/{name}", content)
    account.forget_reports(old["LogGroup"])
    account.done(account.rollout.create())
    [node, *_] = account.client("sagemaker").list_cluster_nodes(ClusterName=account.name)["ClusterNodeSummaries"]
    record = {"record": "state", "instance": node["InstanceId"], "sha256": Bundle.of(new).sha256}
    account.report(old["Parameter"], old["LogGroup"], f"{node['InstanceGroupName']}/{node['InstanceId']}", record)
    update = account.rollout.update("rollout", new, old)
    account.done(update)
    text = update.answer(account.patience_s)["Data"]["Rollout"]
    account.expect("the rollout", text.partition(";")[0], "applied on 1 of 1 nodes")
    account.done(account.rollout.delete("rollout", new))


def deletion(account: Account) -> None:
    """Delete the cluster with its network interfaces, then the deletion resource."""
    account.done(account.cluster.delete(account.name))
    account.expect("the cluster", account.status(), "absent")
    interfaces = account.client("ec2").describe_network_interfaces()["NetworkInterfaces"]
    of_nodes = [each["NetworkInterfaceId"] for each in interfaces if "HyperPod" in each["Description"]]
    account.expect("the nodes' interfaces", of_nodes, [])
    account.done(account.tail.delete("tail"))


def deletion_after_a_failed_replacement(account: Account) -> None:
    """Delete the cluster and its failed replacement, which CloudFormation does not know."""
    other = {**changed(account.cluster.properties, scripts_in("nowhere")), "ClusterName": "other"}
    account.failed(account.cluster.update(account.name, other, account.cluster.properties), "cluster other is Failed")
    account.done(account.cluster.delete(account.name))
    account.expect("clusters", account.client("sagemaker").list_clusters()["ClusterSummaries"], [])


def giving_back(account: Account) -> None:
    """Release an adopted cluster, which stays."""
    [cluster] = account.client("sagemaker").list_clusters()["ClusterSummaries"]
    account.done(account.cluster.delete(account.name, {**account.cluster.properties, "Adopt": "true"}))
    account.expect("the cluster", account.status(), "InService")
    account.expect("its owner", account.tags(cluster["ClusterArn"]).get(STACK_ID_TAG), None)


def _updating(account: Account) -> Request:
    """Send a request for more nodes and wait until it is processed."""
    properties = account.cluster.properties
    request = account.cluster.update(account.name, changed(properties, more_workers(6)), properties)
    account.until("an update", lambda: account.status() == "Updating" or request.is_answered)
    if request.is_answered:
        account.done(request)
    return request


SCENARIOS = (
    Scenario("creation", creation, with_cluster=False),
    Scenario("change", change, with_cluster=True),
    Scenario("overtaking", overtaking, with_cluster=True),
    Scenario("stopped execution", stopped_execution, with_cluster=True),
    Scenario("entry that cannot start", entry_that_cannot_start, with_cluster=True),
    Scenario("entry that cannot stop", entry_that_cannot_stop, with_cluster=True),
    Scenario("failing nodes", failing_nodes, with_cluster=False),
    Scenario("failing continuous nodes", failing_nodes_of_a_continuous_cluster, with_cluster=False),
    Scenario("deletion after a failed replacement", deletion_after_a_failed_replacement, with_cluster=True),
    Scenario("giving back", giving_back, with_cluster=True),
    Scenario("rollout", rollout, with_cluster=True),
    Scenario("deletion", deletion, with_cluster=True),
)
