"""Runs the commands that look at what is deployed."""

from collections.abc import Callable, Iterator
from pathlib import Path

from botocore.exceptions import BotoCoreError, ClientError

from config.load import load_clusters
from ops.account import check_account
from ops.command import Said
from ops.deployment import Deployment
from ops.errors import OpsError
from ops.remedies import UNINTELLIGIBLE, explained, is_ours


def said_on_deployment(name: str, function: Callable[..., Said], *, cluster: str, clusters: Path, **own: object) -> Iterator[str]:
    """What the command of this name says of the cluster; an OpsError tells of an AWS that refuses or is silent."""
    (config,) = load_clusters(clusters, only=cluster)
    try:
        deployment = Deployment(config, folder=clusters)
        check_account(config, clusters / f"{cluster}.yaml", deployment.client("sts"))
        said = function(deployment, **own)
        yield from [said] if isinstance(said, str) else said
    except (ClientError, BotoCoreError, OSError, *UNINTELLIGIBLE) as error:
        if is_ours(error):
            raise
        raise OpsError(explained(name, error)) from error
