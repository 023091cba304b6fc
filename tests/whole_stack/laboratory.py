"""What all faults share: an account with a network, a bootstrapped region, and both implementations synthesized."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

from local_aws.credentials import OWNER
from local_aws.environment import aws_environment
from local_aws.server import ACCOUNT, EmbeddedAws
from local_aws.testing import REGION, clients_of
from tests.local.other_network import make_other_network
from tests.whole_stack.assemblies import synthesize
from tests.whole_stack.world import World

SPEED = 300.0
"""CloudFormation's hour is 12 seconds: more than a busy machine needs for what is no function's work."""


@dataclass(frozen=True)
class Laboratory:
    """Both implementations side by side in one account."""

    worlds: dict[str, World]


def laboratory(aws: EmbeddedAws, folder: Path) -> Laboratory:
    """Make the account ready, and deploy what no fault is about: the stacks without the cluster."""
    client = clients_of(aws)
    home = folder / "home"
    home.mkdir()
    environment = aws_environment(aws.endpoint, REGION, home, OWNER)
    bootstrap = ("cdk", "bootstrap", f"aws://{ACCOUNT}/{REGION}")
    subprocess.run(bootstrap, env=environment, cwd=home, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    assemblies = synthesize(folder / "assemblies", make_other_network(client))
    return Laboratory({kind: World(kind, assemblies, environment, client) for kind in ("ours", "stock")})
