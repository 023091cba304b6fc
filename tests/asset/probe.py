"""Runs in a runtime's Python, with the packaged asset and an older boto3: calls every operation, and prints the results."""

import json
import sys
from datetime import datetime
from typing import Any

import boto3
import botocore
from botocore.exceptions import ClientError, ParamValidationError

from cluster_resource import entry, responder, step
from cluster_resource.aws_api import sagemaker_client


def main(requests: dict[str, Any]) -> dict[str, Any]:
    """Return the client's version, the replies to ``requests`` by operation, and the error of the runtime's own model."""
    client, bundled = sagemaker_client(), boto3.client("sagemaker")
    answers = {operation: _plain(getattr(client, botocore.xform_name(operation))(**each)) for operation, each in requests.items()}
    try:
        client.describe_cluster(ClusterName="absent")
    except ClientError as error:
        absent = error.response["Error"]
    try:
        bundled.create_cluster(**requests["CreateCluster"])
        refusal = ""
    except ParamValidationError as error:
        refusal = str(error)
    return {
        "boto3": boto3.__version__,
        "handlers": [module.handler.__name__ for module in (entry, step, responder)],
        "operations": client.meta.service_model.operation_names,
        "answers": answers,
        "absent": absent,
        "refusal of the runtime's own model": refusal,
    }


def _plain(answer: dict[str, Any]) -> Any:
    """Return the reply as JSON."""
    answer.pop("ResponseMetadata")
    return json.loads(json.dumps(answer, default=lambda value: value.timestamp() if isinstance(value, datetime) else str(value)))


if __name__ == "__main__":
    json.dump(main(json.load(sys.stdin)), sys.stdout)
