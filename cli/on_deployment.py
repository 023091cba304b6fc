"""Runs the commands that look at what is deployed."""

from collections.abc import Callable, Iterator
from pathlib import Path

from botocore.exceptions import BotoCoreError, ClientError

from cli.account import check_account
from cli.command import Said
from cli.deployment import Deployment
from cli.errors import OpsError
from cli.remedies import UNINTELLIGIBLE, explained, is_ours
from validation.load import load_clusters


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
