"""Runs the commands that inspect what is deployed."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from botocore.exceptions import BotoCoreError, ClientError

from cli.account import check_account
from cli.deployment import Deployment
from cli.errors import OpsError
from cli.remedies import UNINTELLIGIBLE, explained, is_ours
from validation.load import load_clusters


def on_deployment(
    command: Callable[..., str | Iterable[str]], *, cluster: str, clusters: Path, **arguments: object
) -> Iterator[str]:
    """Yield the command's text; raise an OpsError if AWS refuses or does not answer."""
    (config,) = load_clusters(clusters, only=cluster)
    try:
        deployment = Deployment(config, folder=clusters)
        check_account(config, clusters / f"{cluster}.yaml", deployment.client("sts"))
        text = command(deployment, **arguments)
        yield from [text] if isinstance(text, str) else text
    except (ClientError, BotoCoreError, OSError, *UNINTELLIGIBLE) as error:
        if is_ours(error):
            raise
        raise OpsError(explained(command.__name__.replace("_", "-"), error)) from error
