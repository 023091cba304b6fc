"""Runs in Lambda behind CDK's Provider: a cluster by onEvent and isComplete, as a careful team writes them."""

import json
from typing import Any

import boto3

sagemaker: Any = boto3.client("sagemaker")
Json = dict[str, Any]


def on_event(event: Json, _context: object) -> Json:
    """Ask for the cluster, its change, or its end."""
    request = json.loads(event["ResourceProperties"]["Request"])
    name = event["ResourceProperties"]["ClusterName"]
    match event["RequestType"]:
        case "Create":
            sagemaker.create_cluster(ClusterName=name, **request)
        case "Update":
            name = event["PhysicalResourceId"]
            sagemaker.update_cluster(ClusterName=name, InstanceGroups=request["InstanceGroups"])
        case _:
            name = event["PhysicalResourceId"]
            try:
                sagemaker.delete_cluster(ClusterName=name)
            except sagemaker.exceptions.ResourceNotFound:
                print(f"cluster {name} is gone already")
    return {"PhysicalResourceId": name}


def is_complete(event: Json, _context: object) -> Json:
    """Tell whether it is done; a cluster that failed raises its reason."""
    name = event["PhysicalResourceId"]
    try:
        cluster = sagemaker.describe_cluster(ClusterName=name)
    except sagemaker.exceptions.ResourceNotFound:
        if event["RequestType"] == "Delete":
            return {"IsComplete": True}
        raise
    status = cluster["ClusterStatus"]
    print(f"cluster {name} is {status}")
    if event["RequestType"] == "Delete":
        return {"IsComplete": False}
    if status == "Failed":
        raise RuntimeError(f"cluster {name} failed: {cluster.get('FailureMessage')}")
    if status != "InService":
        return {"IsComplete": False}
    return {"IsComplete": True, "Data": {"ClusterArn": cluster["ClusterArn"], "ClusterName": name}}
