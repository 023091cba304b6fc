"""How long the deployment of one changed count takes, next to one that changes nothing, on the embedded AWS."""

import tempfile
from pathlib import Path

from local_aws.credentials import OWNER
from local_aws.environment import aws_environment
from local_aws.server import ACCOUNT, EmbeddedAws
from local_aws.testing import REGION
from tests.bench.timing import medians, seconds, verdict
from tests.local.walk.workspace import Workspace

LIMIT = 2.5
CLUSTER_FILE = "clusters/reference.yaml"


def bench(rounds: int, tolerance: float) -> bool:
    """Measure and print; tell whether the limit holds."""
    with tempfile.TemporaryDirectory() as folder, EmbeddedAws() as aws:
        home = Path(folder) / "home"
        home.mkdir()
        environment = aws_environment(aws.endpoint, REGION, home, OWNER)
        workspace = Workspace(Path(folder) / "checkout", environment)
        workspace.run("cdk", "bootstrap", f"aws://{ACCOUNT}/{REGION}", folder=home)
        print("  deploying the cluster once", flush=True)
        workspace.deploy()
        deploy = ("cdk", "deploy", "reference/*", "--require-approval", "never")

        def unchanged() -> float:
            return seconds(deploy, workspace.folder, environment)

        def one_count() -> float:
            _flip(workspace)
            return seconds(deploy, workspace.folder, environment)

        taken = medians({"nothing changed": unchanged, "one count changed": one_count}, rounds)
    return verdict("deploy of one changed count, s", taken["one count changed"], taken["nothing changed"], LIMIT, tolerance)


def _flip(workspace: Workspace) -> None:
    text = (workspace.folder / CLUSTER_FILE).read_text()
    old, new = (4, 6) if "instance_count: 4" in text else (6, 4)
    workspace.replace(CLUSTER_FILE, f"instance_count: {old}", f"instance_count: {new}")
