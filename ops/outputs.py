"""`python -m ops outputs CLUSTER`: what the stacks put out."""

from ops.deployment import Deployment
from ops.errors import OpsError
from ops.table import table


def outputs(deployment: Deployment) -> str:
    """The outputs of the cluster's stacks."""
    found = deployment.outputs()
    if not found:
        name = deployment.config.name
        raise OpsError(f"cluster {name!r} has no stacks; run `{deployment.deploy_command}`")
    return table(("OUTPUT", "VALUE"), found.items())
