"""Deploy a cluster file through AWS APIs: synthesize it, upload its assets, create its stacks."""

import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from local_aws.testing import ACCOUNT, REGION, Client
from stacks.clusters_app import ClustersApp

ASSETS = f"cdk-hnb659fds-assets-{ACCOUNT}-{REGION}"
STACKS = ("Network", "Storage", "Cluster")
EKS_STACKS = ("Network", "Storage", "Kubernetes", "Cluster", "Addons")


class Deployment:
    """The stacks of the only cluster file in a folder."""

    def __init__(self, client: Client, folder: Path, outdir: Path, stacks: Sequence[str] = STACKS) -> None:
        self._client = client
        self._synthesize(folder, outdir)
        self._bootstrap()
        for name in stacks:
            self._deploy(name, "create")

    def update(self, folder: Path, outdir: Path) -> None:
        """Synthesize the file again, and update the Network and Cluster stacks."""
        self._synthesize(folder, outdir)
        for name in ("Network", "Cluster"):
            self._deploy(name, "update")

    def only(self, named: str, kind: str, stack: str = "Cluster") -> str:
        """Return the physical ID of the only resource of a type below a construct."""
        resources = json.loads(self._template(stack).read_text())["Resources"]
        found = [name for name, resource in resources.items() if name.startswith(named) and resource["Type"].endswith(kind)]
        assert len(found) == 1, f"expected one {kind} named {named}, got {found}"
        answer = self._client("cloudformation").describe_stack_resource(StackName=self._stack(stack), LogicalResourceId=found[0])
        return str(answer["StackResourceDetail"]["PhysicalResourceId"])

    def _bootstrap(self) -> None:
        """Create the parts of `cdk bootstrap` that these stacks need."""
        self._client("ssm").put_parameter(Name="/cdk-bootstrap/hnb659fds/version", Value="30", Type="String")
        self._client("s3").create_bucket(Bucket=ASSETS, CreateBucketConfiguration={"LocationConstraint": REGION})

    def _synthesize(self, folder: Path, outdir: Path) -> None:
        ClustersApp(context={"nag": "false", "clusters": str(folder)}, outdir=str(outdir)).synth()
        [self._assembly] = outdir.glob("assembly-*")

    def _deploy(self, name: str, verb: str) -> None:
        self._upload_assets(name)
        cloudformation, stack = self._client("cloudformation"), self._stack(name)
        getattr(cloudformation, f"{verb}_stack")(
            StackName=stack,
            TemplateURL=f"https://{ASSETS}.s3.{REGION}.amazonaws.com/{self._key(name)}",
            Capabilities=["CAPABILITY_NAMED_IAM"],
        )
        waiter = cloudformation.get_waiter(f"stack_{verb}_complete")
        waiter.wait(StackName=stack, WaiterConfig={"Delay": 0.2, "MaxAttempts": 1000})

    def _upload_assets(self, name: str) -> None:
        manifest = json.loads(next(self._assembly.glob(f"*{name}*.assets.json")).read_text())
        for asset in manifest["files"].values():
            source, [target] = asset["source"], asset["destinations"].values()
            content = _content(self._assembly / source["path"], source["packaging"])
            self._client("s3").put_object(Bucket=ASSETS, Key=target["objectKey"], Body=content)

    def _key(self, name: str) -> str:
        template = self._template(name).name
        manifest = json.loads(next(self._assembly.glob(f"*{name}*.assets.json")).read_text())
        [asset] = [asset for asset in manifest["files"].values() if asset["source"]["path"] == template]
        [target] = asset["destinations"].values()
        return str(target["objectKey"])

    def _template(self, name: str) -> Path:
        return next(self._assembly.glob(f"*{name}*.template.json"))

    def _stack(self, name: str) -> str:
        artifacts: Mapping[str, Any] = json.loads((self._assembly / "manifest.json").read_text())["artifacts"]
        names = [artifact["properties"].get("stackName", "") for artifact in artifacts.values() if "properties" in artifact]
        return str(next(found for found in names if found.endswith(f"-{name}")))


def _content(path: Path, packaging: str) -> bytes:
    if packaging == "file":
        return path.read_bytes()
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for each in sorted(path.rglob("*")):
            if each.is_file():
                file.write(each, each.relative_to(path))
    return archive.getvalue()
