"""The machinery behind the custom resource in a stack of its own, with waits in the place of a cluster."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import aws_cdk as cdk

from constructs.hyperpod.cluster.cluster_provider import ClusterProvider
from local_aws.testing import ACCOUNT, REGION, Client

ASSETS = "assets"
STACK = "machinery"
TOPIC = f"arn:aws:sns:{REGION}:{ACCOUNT}:trouble"
TAIL = "Custom::HyperPodDeletion"


class Machinery:
    """The stack's template and the functions' code."""

    def __init__(self, outdir: Path) -> None:
        app = cdk.App(outdir=str(outdir), analytics_reporting=False)
        synthesizer = cdk.DefaultStackSynthesizer(file_assets_bucket_name=ASSETS, generate_bootstrap_version_rule=False)
        stack = cdk.Stack(app, STACK, synthesizer=synthesizer)
        provider = ClusterProvider(stack, "Provider", alarm_topic_arn=TOPIC)
        for name in ("First", "Second"):
            cdk.CustomResource(
                stack,
                name,
                resource_type=TAIL,
                service_token=provider.service_token,
                # What is not answered is given up after two minutes, which are a moment here.
                service_timeout=cdk.Duration.hours(1) if name == "First" else cdk.Duration.minutes(2),
                properties={"PropertiesVersion": "1", "ClusterLogicalId": "Cluster"},
            ).node.add_dependency(provider)
        app.synth()
        self._folder = outdir
        self._template: dict[str, Any] = json.loads((outdir / f"{STACK}.template.json").read_text())

    def template(self, *custom: str) -> str:
        """The template with those of its custom resources."""
        of_type = {name for name, resource in self._template["Resources"].items() if resource["Type"] == TAIL}
        kept = {name: value for name, value in self._template["Resources"].items() if name not in of_type - {*custom}}
        return json.dumps({**self._template, "Resources": kept})

    def upload(self, client: Client) -> None:
        """Put the functions' code where the template says that it is."""
        s3 = client("s3")
        s3.create_bucket(Bucket=ASSETS, CreateBucketConfiguration={"LocationConstraint": REGION})
        for asset in json.loads((self._folder / f"{STACK}.assets.json").read_text())["files"].values():
            if asset["source"]["packaging"] == "zip":
                [target] = asset["destinations"].values()
                s3.put_object(Bucket=ASSETS, Key=target["objectKey"], Body=_zipped(self._folder / asset["source"]["path"]))


def _zipped(folder: Path) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                archive.write(file, file.relative_to(folder))
    return buffer.getvalue()
