"""Runs in Lambda behind CDK's Provider: a cluster by onEvent and isComplete, written by the Provider's rules.

onEvent makes no call that creates anything, so that no failure of it leaves a cluster without a physical id. isComplete makes
one call at a time, waits out what passes, and shortens errors, as an answer has at most 4,096 bytes. Tags say which stack owns
the cluster and which request was the last, because an update that was cancelled has an execution that goes on.
"""

import json
from typing import Any

import boto3
from botocore.exceptions import BotoCoreError, ClientError

Json = dict[str, Any]
sagemaker: Any = boto3.client("sagemaker")

PASSES = ("Conflict", "InternalFailure", "InUse", "ServiceUnavailable", "Throttl", "TooManyRequests")
WAIT = {"IsComplete": False}


def on_event(event: Json, _context: object) -> Json:
    """Name the cluster; an update says that it is the newest request."""
    name = event["ResourceProperties"]["ClusterName"]
    if event["RequestType"] == "Update":
        _note(sagemaker.describe_cluster(ClusterName=name), event["RequestId"])
    return {"PhysicalResourceId": event.get("PhysicalResourceId", name) if event["RequestType"] == "Delete" else name}


def is_complete(event: Json, _context: object) -> Json:
    """Do the next thing; try again what a throttle, a conflict or a lost reply stopped."""
    try:
        return {"Create": _create, "Update": _update, "Delete": _delete}[event["RequestType"]](event)
    except (BotoCoreError, ClientError) as error:
        code = error.response["Error"]["Code"] if isinstance(error, ClientError) else "InternalFailure"
        print(error)
        if any(word in code for word in PASSES):
            return WAIT
        raise RuntimeError(str(error)[:1000]) from None


def _create(event: Json) -> Json:
    request, name = json.loads(event["ResourceProperties"]["Request"]), event["ResourceProperties"]["ClusterName"]
    cluster = _cluster(name)
    if cluster is None:
        tags = {"Owner": event["StackId"], "Request": event["RequestId"]}
        request["Tags"] = [*request.get("Tags", []), *({"Key": key, "Value": value} for key, value in tags.items())]
        sagemaker.create_cluster(ClusterName=name, **request)
        return WAIT
    if _tags(cluster).get("Owner") != event["StackId"]:
        raise RuntimeError(f"cluster {name} is another stack's")
    return _done(cluster)


def _update(event: Json) -> Json:
    request, name = json.loads(event["ResourceProperties"]["Request"]), event["ResourceProperties"]["ClusterName"]
    cluster = sagemaker.describe_cluster(ClusterName=name)
    last, asked = _tags(cluster).get("Request", ""), f"{event['RequestId']} asked"
    if not last.startswith(event["RequestId"]):
        raise RuntimeError("a newer request is at work")
    if last != asked:
        sagemaker.update_cluster(ClusterName=name, InstanceGroups=request["InstanceGroups"])
        _note(cluster, asked)
        return WAIT
    sizes = {group["InstanceGroupName"]: group["TargetCount"] for group in cluster["InstanceGroups"]}
    if cluster["ClusterStatus"] == "InService" and any(
        sizes.get(group["InstanceGroupName"]) != group["InstanceCount"] for group in request["InstanceGroups"]
    ):
        raise RuntimeError(f"the service undid the update: {cluster.get('FailureMessage')}"[:1000])
    return _done(cluster)


def _delete(event: Json) -> Json:
    cluster = _cluster(event["ResourceProperties"]["ClusterName"])
    if cluster is None or _tags(cluster).get("Owner") != event["StackId"]:
        return {"IsComplete": True}
    if cluster["ClusterStatus"] != "Deleting":
        sagemaker.delete_cluster(ClusterName=cluster["ClusterName"])
        return WAIT
    for page in sagemaker.get_paginator("list_cluster_nodes").paginate(ClusterName=cluster["ClusterName"]):
        for node in page["ClusterNodeSummaries"]:
            message = node["InstanceStatus"].get("Message", "")
            if "permission" in message:
                raise RuntimeError(f"cluster {cluster['ClusterName']} cannot be deleted: {message}"[:1000])
    return WAIT


def _done(cluster: Json) -> Json:
    if cluster["ClusterStatus"] == "Failed":
        raise RuntimeError(f"cluster {cluster['ClusterName']} failed: {cluster.get('FailureMessage')}"[:1000])
    if cluster["ClusterStatus"] != "InService":
        return WAIT
    return {"IsComplete": True, "Data": {"ClusterArn": cluster["ClusterArn"], "ClusterName": cluster["ClusterName"]}}


def _cluster(name: str) -> Json | None:
    try:
        return dict(sagemaker.describe_cluster(ClusterName=name))
    except sagemaker.exceptions.ResourceNotFound:
        return None


def _tags(cluster: Json) -> dict[str, str]:
    pages = sagemaker.get_paginator("list_tags").paginate(ResourceArn=cluster["ClusterArn"])
    return {tag["Key"]: tag["Value"] for page in pages for tag in page["Tags"]}


def _note(cluster: Json, request: str) -> None:
    sagemaker.add_tags(ResourceArn=cluster["ClusterArn"], Tags=[{"Key": "Request", "Value": request}])
