"""Runs in Lambda. The boto3 clients, with the SageMaker API of the release rather than of the Lambda runtime.

The asset carries a slim service model (the operations that we call, no documentation), which is put first on botocore's loader
path. Endpoints, credentials and signing are the runtime's own. In a checkout the folder is absent and the installed model serves.
"""

import os
from pathlib import Path
from typing import Any

import botocore.session
from botocore.config import Config

MODEL_DIR = Path(__file__).parent / "service_model"
MODEL = "sagemaker/2017-07-24/service-2.json"

OPERATIONS = (
    "AddTags",
    "CreateCluster",
    "DeleteCluster",
    "DeleteTags",
    "DescribeCluster",
    "DescribeClusterEvent",
    "ListClusterEvents",
    "ListClusterNodes",
    "ListClusters",
    "ListTags",
    "UpdateCluster",
)
"""What the service model must hold, and the function's role allow."""

CONFIG = Config(
    connect_timeout=5,
    read_timeout=15,
    retries={"mode": "standard", "total_max_attempts": 2},
    user_agent_extra="hyperpod-cdk",
)
"""A step makes few calls and is followed by another, so that no call may take long."""


def sagemaker_client(model_dir: Path = MODEL_DIR) -> Any:
    """A SageMaker client that knows what this release asks for; it tells at once when its model lacks an operation."""
    session = botocore.session.get_session()
    if (model_dir / MODEL).is_file():
        session.get_component("data_loader").search_paths.insert(0, str(model_dir))
    elif "LAMBDA_TASK_ROOT" in os.environ:
        raise RuntimeError(f"the SageMaker service model {model_dir / MODEL} is missing; rebuild the asset from the pinned boto3")
    client = session.create_client("sagemaker", config=CONFIG)
    missing = set(OPERATIONS) - set(client.meta.service_model.operation_names)
    if missing:
        raise RuntimeError(
            f"the SageMaker service model has no {', '.join(sorted(missing))}; rebuild the asset from the pinned boto3"
        )
    return client


def logs_client() -> Any:
    """A CloudWatch Logs client for a few looks: what does not answer at once is left out."""
    config = CONFIG.merge(Config(connect_timeout=3, read_timeout=5, retries={"mode": "standard", "total_max_attempts": 1}))
    return botocore.session.get_session().create_client("logs", config=config)


def states_client() -> Any:
    """A Step Functions client."""
    return botocore.session.get_session().create_client("stepfunctions", config=CONFIG)
