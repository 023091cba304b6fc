"""What the deployment lays into the scripts' prefix."""

from pathlib import Path

from tests.contract.deployed import Deployed
from tests.synth.synthesized import CLUSTER, Synthesized


def bundle_of(synthesized: Synthesized, cluster: str, outdir: Path) -> Path:
    """The folder of the cloud assembly with the scripts of the cluster, but for what is known at deployment only."""
    keys = Deployed(synthesized, cluster).properties(CLUSTER, "Custom::CDKBucketDeployment")["SourceObjectKeys"]
    [folder] = [file.parent for key in keys for file in outdir.glob(f"*/asset.{key.removesuffix('.zip')}/node_settings.json")]
    return folder
