"""What the deployment lays into the scripts' prefix."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

from script_upload.index import upload
from tests.contract.deployed import Deployed
from tests.synth.synthesized import CLUSTER, Synthesized
from tests.unit.cluster_resource.fake_s3 import FakeS3


def order_of(synthesized: Synthesized, cluster: str) -> str:
    """What the function's environment and its event tell it."""
    text: str = Deployed(synthesized, cluster).properties(CLUSTER, "Custom::LifecycleScripts")["Upload"]
    return text


def bundle_of(synthesized: Synthesized, cluster: str, outdir: Path) -> Path:
    """The folder of the cloud assembly with the scripts of the cluster, but for what is known at deployment only."""
    key = json.loads(order_of(synthesized, cluster))["AssetKey"]
    [folder] = outdir.glob(f"*/asset.{key.removesuffix('.zip')}")
    return folder


def zipped(folder: Path) -> bytes:
    """The asset as the cdk command line publishes it."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        for path in folder.rglob("*"):
            file.write(path, path.relative_to(folder))
    return archive.getvalue()


def uploaded_by(synthesized: Synthesized, cluster: str, outdir: Path) -> dict[str, bytes]:
    """The files after the function has run, by key."""
    order, s3 = order_of(synthesized, cluster), FakeS3()
    asset: dict[str, Any] = json.loads(order)
    s3.objects[asset["AssetKey"]] = zipped(bundle_of(synthesized, cluster, outdir))
    upload(order, order, s3)
    return s3.objects
