"""`./hpod outputs CLUSTER`: what the stacks put out."""

from cli.deployment import Deployment
from cli.errors import OpsError
from cli.table import table


def outputs(deployment: Deployment) -> str:
    """The outputs of the cluster's stacks."""
    found = deployment.outputs()
    if not found:
        name = deployment.config.name
        raise OpsError(f"cluster {name!r} has no stacks; run `{deployment.deploy_command}`")
    return table(("OUTPUT", "VALUE"), found.items())
