"""Upload the lifecycle scripts.

Nodes run them as root, and many principals may invoke a function. So the function's environment, not the event, names their
source, their SHA-256 and their place.
"""

import hashlib
import io
import json
import os
import re
import urllib.request
import zipfile
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import boto3

URL = re.compile(r"https://[a-z0-9-]+\.s3[a-z0-9.-]*\.amazonaws\.com(\.cn)?/")
AT_ONCE = 10  # as many as botocore has connections


def handler(event: dict[str, Any], _: object) -> None:
    """Upload the scripts and respond to CloudFormation."""
    response = {key: event[key] for key in ("StackId", "RequestId", "LogicalResourceId")}
    response |= {"Status": "SUCCESS", "PhysicalResourceId": event.get("PhysicalResourceId", "lifecycle-scripts")}
    try:
        # Old scripts stay: running nodes and rollbacks refer to them.
        if event["RequestType"] != "Delete":
            upload(event["ResourceProperties"]["Upload"], os.environ["UPLOAD"], boto3.client("s3"))
    except Exception as error:  # noqa: BLE001  CloudFormation would wait an hour
        response |= {"Status": "FAILED", "Reason": f"{type(error).__name__}: {error}"[:1000]}
    print(response["Status"], response.get("Reason", ""))  # noqa: T201  the function's log
    respond(event["ResponseURL"], json.dumps(response).encode())


def upload(given: str, own: str, s3: Any) -> None:
    """Copy the files of the asset; add the parameters that only the deployment knows."""
    if given != own:
        raise ValueError("the event is not from the deployment that configured this function")
    order = json.loads(own)
    asset = s3.get_object(Bucket=order["AssetBucket"], Key=order["AssetKey"])["Body"].read()
    with zipfile.ZipFile(io.BytesIO(asset)) as archive:
        files = {name: archive.read(name) for name in sorted(archive.namelist()) if not name.endswith("/")}
    if (found := fingerprint(files)) != order["Sha256"]:
        raise ValueError(
            f"s3://{order['AssetBucket']}/{order['AssetKey']} has SHA-256 {found}, not {order['Sha256']} as this deployment's "
            "scripts; find out who changed it, delete it, and deploy again"
        )
    if name := order["ParametersFile"]:
        files[name] = json.dumps({**json.loads(files[name]), **order["Parameters"]}).encode()

    def put(name: str) -> None:
        s3.put_object(Bucket=order["Bucket"], Key=f"{order['Prefix']}/{name}", Body=files[name])

    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(put, files))


def fingerprint(files: dict[str, bytes]) -> str:
    """Return the SHA-256 of all names and contents, as ScriptBundle calculates it."""
    total = hashlib.sha256()
    for name, content in sorted(files.items()):
        total.update(f"{name}\0{len(content)}\0".encode() + content)
    return total.hexdigest()


def respond(url: str, body: bytes) -> None:
    """PUT to S3 over HTTPS only; the signature requires an empty content type."""
    embedded = os.environ.get("AWS_ENDPOINT_URL")
    if not (URL.match(url) or (embedded and url.startswith(f"{embedded}/"))):
        raise ValueError("the ResponseURL is not an HTTPS address of S3")
    request = urllib.request.Request(url, body, {"Content-Type": ""}, method="PUT")  # noqa: S310
    urllib.request.urlopen(request, timeout=30).close()  # noqa: S310
