"""What a command acts on: the arguments and options that several commands share."""

import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from cli.access import Access
from cli.cluster_folder import CLUSTERS, cluster_folder, cluster_names, is_path, names_in
from cli.command_line import Shared
from cli.confirm import Confirm, confirmation
from cli.errors import CommandError
from cli.render import line_printer, render
from cli.result import Result, Show, failed
from config.errors import ConfigError
from config.suggestions import either, like

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


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
Clusters = Annotated[  # eager: CLUSTER's default is read from it
    Path, typer.Option(metavar="FOLDER", help="Folder of the cluster files, as in `cdk -c clusters=FOLDER`.", is_eager=True)
]
Strict = Annotated[bool, typer.Option("--strict", help="Exit with 1 on warnings, too.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite an existing file (default: refuse).")]
Output = Annotated[Literal["text", "json"], typer.Option(help="Output format.")]
Profile = Annotated[str | None, typer.Option(metavar="NAME", help="AWS profile of the credentials (default: AWS_PROFILE).")]
Region = Annotated[str | None, typer.Option(metavar="REGION", help="AWS region, if the cluster file has none.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation; required without a terminal.")]


@dataclass(frozen=True, kw_only=True)
class Folder(Shared):
    """The folder of the cluster files, for a command that reads or writes files."""

    ctx: typer.Context
    clusters: Clusters = CLUSTERS
    output: Output = "text"

    @property
    def command(self) -> str:
        """Return the name of the command."""
        return str(self.ctx.info_name)

    @property
    def path(self) -> Path:
        """Return the folder, or the checkout's own where the default does not exist."""
        return cluster_folder(self.clusters)

    @property
    def show(self) -> Show:
        """Return what prints a line while the command runs."""
        return line_printer(self.output)

    def demand_text(self, option: str) -> None:
        """Raise a usage error if the option, which prints until Ctrl-C, is combined with JSON."""
        if self.output != "text":
            raise typer.BadParameter(f"{option} prints text until Ctrl-C; remove --output json")

    def run(self, function: Callable[..., Result], **arguments: object) -> None:
        """Run a command on files in the folder."""
        run(self.command, lambda: function(clusters=self.path, **arguments), self.output)


@dataclass(frozen=True, kw_only=True)
class FolderAtAws(Folder):
    """The folder of the cluster files, for a command that also calls AWS."""

    profile: Profile = None
    region: Region = None

    @property
    def access(self) -> Access:
        """Return the profile and region of the calls."""
        return Access(self.profile, self.region)


@dataclass(frozen=True, kw_only=True)
class Target(FolderAtAws):
    """A cluster that must be named, so that a command which changes something never acts on another one."""

    cluster: ClusterOrFile

    def run_on_deployment(self, function: Callable[..., Result], **arguments: object) -> None:
        """Run a command on the deployment of the cluster file."""
        from cli.deployment import on_deployment  # noqa: PLC0415  imports boto3, which help does not need

        call = partial(on_deployment, self.command, function, self.cluster, self.path, self.access)
        run(self.command, lambda: call(**arguments), self.output)


@dataclass(frozen=True, kw_only=True)
class DefaultTarget(Target):
    """A cluster that need not be named if it is the only one, for a command that changes nothing at AWS."""

    cluster: ClusterOrOnly


@dataclass(frozen=True, kw_only=True)
class ConfirmedTarget(Target):
    """A cluster that the command changes after a confirmation."""

    yes: Yes = False

    @property
    def confirm(self) -> Confirm:
        """Return what asks for the confirmation."""
        return confirmation(yes=self.yes)


def run(command: str, call: Callable[[], Result], output: str) -> None:
    """Call the command's function, and print its result."""
    try:
        try:
            result = call()
        except (ConfigError, CommandError) as error:
            result = failed(error)
        render(command, result, output)
    except BrokenPipeError:  # the reader has stopped, like `head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(141) from None
    if result.failure:
        raise typer.Exit(result.exit_code)


def after_cluster(metavar: str, text: str) -> Any:
    """Return an optional argument after an optional CLUSTER."""
    return typer.Argument(metavar=metavar, help=f"{text}; CLUSTER may be omitted if it is the only one.", callback=_after_only)


def examples(*lines: str) -> str:
    """Return the examples at the end of a command's help, which is never rewrapped."""
    return "\n".join(["\b", "Examples:", *(f"  ./hpod {line}" for line in lines)])


def time_span(option: str, text: str) -> timedelta:
    """Return the time span that an option names; raise a usage error for other text."""
    found = re.fullmatch(r"([1-9][0-9]{0,5})([smhd])", text)
    if not found:
        raise typer.BadParameter(f"{option} {text}: not a time span; pass a number with a unit, e.g. 90s, 30m, 4h or 7d")
    return timedelta(**{_UNITS[found[2]]: int(found[1])})


def timeout_s(text: str) -> int:
    """Return the seconds of `--timeout`."""
    return int(time_span("--timeout", text).total_seconds())
