"""`./hpod outputs CLUSTER [NAME]`: the outputs of the stacks."""

from cli.deployment import Deployment
from cli.errors import CommandError
from cli.result import Result, Table, Verbatim
from config.suggestions import nearest

LONG = "AfterDestroy"


def outputs(deployment: Deployment, *, name: str | None = None) -> Result:
    """Return the outputs of the cluster's stacks, or only the value of the output ``name``."""
    found = dict(sorted(deployment.outputs().items(), key=lambda output: output[0].endswith(LONG)))  # long values last
    if not found:
        raise CommandError(f"cluster {deployment.config.name!r} has no stacks", f"run `{deployment.deploy_command}`")
    if name is None:
        return Result({"outputs": found}, (Table(("OUTPUT", "VALUE"), list(found.items())),))
    if name not in found:
        raise CommandError(f"unknown output {name!r}", nearest(name, found))
    return Result({"outputs": {name: found[name]}}, (Verbatim(found[name]),))
