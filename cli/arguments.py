"""Arguments and options that several commands share."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from cli.cluster_folder import cluster_names

ClusterOrFile = Annotated[
    str,
    typer.Argument(metavar="CLUSTER|FILE", help="Name or path of a cluster file.", autocompletion=cluster_names),
]
Clusters = Annotated[Path, typer.Option(metavar="FOLDER", help="Folder of the cluster files, as in `cdk -c clusters=FOLDER`.")]
Strict = Annotated[bool, typer.Option("--strict", help="Exit with 1 on warnings, too.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite an existing file (default: refuse).")]
Output = Annotated[Literal["text", "json"], typer.Option(help="Output format.")]
Profile = Annotated[str | None, typer.Option(metavar="NAME", help="AWS profile of the credentials (default: AWS_PROFILE).")]
Region = Annotated[str | None, typer.Option(metavar="REGION", help="AWS region, if the cluster file has none.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation; required without a terminal.")]


def examples(*lines: str) -> str:
    """Return the examples at the end of a command's help, which is never rewrapped."""
    return "\n".join(["\b", "Examples:", *(f"  ./hpod {line}" for line in lines)])
