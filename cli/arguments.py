"""Arguments and options that several commands share."""

from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from cli.cluster_folder import cluster_names, is_path, names_in
from config.suggestions import either, like


def _or_only(ctx: typer.Context, given: str) -> str:
    """Return the given cluster, or else the only one in the folder."""
    if given:
        return given
    folder = ctx.params["clusters"]
    names = names_in(folder)
    if len(names) == 1:
        return names[0]
    fix = f"pass one of {either(names)}" if names else "write one with `./hpod init NAME`, or pass --clusters"
    raise typer.BadParameter(f"{folder} has {len(names)} cluster files; {fix}")


def _after_only(ctx: typer.Context, given: str | None) -> str | None:
    """Return the argument after CLUSTER; a single argument that is not like a cluster's name is this one, of the only cluster."""
    first = ctx.params["cluster"]
    names = [] if given is not None or is_path(first) else names_in(ctx.params["clusters"])
    if len(names) != 1 or like(first, names):
        return given
    ctx.params["cluster"] = names[0]
    return str(first)


for_cluster = partial(typer.Argument, metavar="CLUSTER|FILE", autocompletion=cluster_names)
ClusterOrFile = Annotated[str, for_cluster(help="Name or path of a cluster file.")]
ClusterOrOnly = Annotated[
    str,
    for_cluster(
        help="Name or path of a cluster file (default: the only one).",
        callback=_or_only,
        default_factory=str,
        show_default=False,
    ),
]
"""For commands that change nothing at AWS: others require the name, so that they never act on another cluster."""
Clusters = Annotated[  # eager: CLUSTER's default is read from it
    Path, typer.Option(metavar="FOLDER", help="Folder of the cluster files, as in `cdk -c clusters=FOLDER`.", is_eager=True)
]


def after_cluster(metavar: str, text: str) -> Any:
    """Return an optional argument after an optional CLUSTER."""
    return typer.Argument(metavar=metavar, help=f"{text}; CLUSTER may be omitted if it is the only one.", callback=_after_only)


Strict = Annotated[bool, typer.Option("--strict", help="Exit with 1 on warnings, too.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite an existing file (default: refuse).")]
Output = Annotated[Literal["text", "json"], typer.Option(help="Output format.")]
Profile = Annotated[str | None, typer.Option(metavar="NAME", help="AWS profile of the credentials (default: AWS_PROFILE).")]
Region = Annotated[str | None, typer.Option(metavar="REGION", help="AWS region, if the cluster file has none.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation; required without a terminal.")]


def examples(*lines: str) -> str:
    """Return the examples at the end of a command's help, which is never rewrapped."""
    return "\n".join(["\b", "Examples:", *(f"  ./hpod {line}" for line in lines)])
