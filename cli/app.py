"""The command line of `./hpod`."""

from typing import Annotated

import typer

from cli import __version__, deployment_commands, file_commands, node_commands, reach_commands
from cli.command_line import Commands

HINT = "Run `hpod COMMAND --help` for options and examples."
EXIT_CODES = "Exit codes: 0 success; 1 problems found or command failed; 2 wrong usage; 130 Ctrl-C; 141 output pipe closed."

app = typer.Typer(
    cls=Commands,
    help="Check cluster files before `cdk deploy`, inspect deployments, and operate their nodes.",
    epilog=f"{HINT}\n\n{EXIT_CODES}",
    context_settings={"help_option_names": ["-h", "--help"]},
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _print_version(value: bool) -> None:
    if value:
        typer.echo(f"hyperpod-cdk {__version__}")
        raise typer.Exit


@app.callback()
def _top(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    del version


for group in (file_commands, deployment_commands, reach_commands, node_commands):
    app.add_typer(group.commands)
