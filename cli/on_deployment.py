"""Runs the commands that inspect a deployment."""

from collections.abc import Callable
from pathlib import Path

from botocore.exceptions import BotoCoreError, ClientError

from cli.access import Access
from cli.account import check_account
from cli.aws_errors import UNINTELLIGIBLE, explained, is_ours
from cli.cluster_folder import is_path
from cli.deployment import Deployment
from cli.errors import CommandError
from cli.result import Result
from validation.load import load_clusters


def on_deployment(
    command: str, function: Callable[..., Result], cluster: str, clusters: Path, access: Access, **arguments: object
) -> Result:
    """Return the command's result; raise an CommandError if AWS refuses or does not answer."""
    if is_path(cluster):
        clusters, cluster = Path(cluster).parent, Path(cluster).stem
    (config,) = load_clusters(clusters, only=cluster)
    try:
        deployment = Deployment(config, folder=clusters, access=access)
        check_account(config, clusters / f"{cluster}.yaml", deployment.client("sts"))
        return function(deployment, **arguments)
    except (ClientError, BotoCoreError, OSError, *UNINTELLIGIBLE) as error:
        if is_ours(error) or isinstance(error, BrokenPipeError):
            raise
        raise CommandError(explained(command, error)) from error
