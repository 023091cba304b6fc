"""The operator's commands: `./hpod COMMAND CLUSTER`."""

import argparse
import os
import sys
from collections.abc import Iterable
from pathlib import Path

from config.interpreter import demand

if __name__ == "__main__":
    demand("cli", "boto3", "pydantic", "yaml")  # before any of them is imported

from cli.command import CLUSTERS, Command
from cli.errors import OpsError
from cli.usage import CommandParser, wrong_command
from config.errors import ConfigError

COMMANDS: dict[str, Command] = {
    "validate": Command(
        "cli.validate:validate", "all that is wrong with cluster files, before anything is deployed", deployed=False
    ),
    "preflight": Command(
        "cli.preflight.command:preflight",
        "what the account would refuse of a cluster file, asked before anything is deployed",
        deployed=False,
    ),
    "cost": Command(
        "cli.cost.command:cost", "what a cluster costs per hour and per month, by prices with sources", deployed=False
    ),
    "status": Command("cli.status:status", "the stacks, the groups and the nodes at a glance"),
    "nodes": Command("cli.nodes:nodes", "every node, and how to get a shell on it"),
    "logs": Command("cli.logs:logs", "the lifecycle logs of the nodes that there are and were; with `NODE`, what that one wrote"),
    "outputs": Command("cli.outputs:outputs", "what the stacks put out: addresses, names, ids"),
    "retained": Command("cli.retained:retained", "what a destroy left, as the sections that let the next deployment use it"),
    "adopt": Command("cli.adopt:adopt", "what a deployment would do with the cluster that has this `cluster_name` already"),
    "init": Command("cli.init:init", "asks a few questions and writes a commented cluster file", deployed=False),
    "import": Command(
        "cli.import_cluster.command:import_cluster",
        "the cluster file of a cluster that was described elsewhere: by its request, or with `--cluster` as it runs",
        deployed=False,
    ),
    "continue-rollback": Command("cli.rollback:continue_rollback", "goes on with a rollback that CloudFormation has given up"),
}


def parser(only: str | None = None) -> argparse.ArgumentParser:
    """The command line: one subcommand for each entry of COMMANDS; with the options of all, or of ``only`` this one."""
    top = argparse.ArgumentParser(prog="./hpod", description="Look at clusters, before and after cdk deploys them.")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=CommandParser)
    for name, each in COMMANDS.items():
        command = commands.add_parser(name, help=each.what, description=each.what)
        if each.deployed:
            command.add_argument("cluster", metavar="CLUSTER", help="name of a cluster file, without .yaml, e.g. reference")
        command.add_argument(
            "--clusters",
            type=Path,
            default=CLUSTERS,
            metavar="FOLDER",
            help="where the cluster files are (clusters); to cdk, that is `-c clusters=FOLDER`",
        )
        if only in (None, name):
            each.add_options(command)
    return top


def said(name: str, given: dict[str, object]) -> Iterable[str]:
    """What the command of this name says, piece by piece."""
    command = COMMANDS[name]
    if command.deployed:
        from cli.on_deployment import said_on_deployment  # noqa: PLC0415  imports boto3, which other commands do not need

        return said_on_deployment(name, command.function(), **given)  # type: ignore[arg-type]  # as argparse made them
    told = command.function()(**given)
    return [told] if isinstance(told, str) else told


def main(arguments: list[str] | None = None) -> int:
    """Run one command; the exit status is 1 when it could not do its work."""
    words = sys.argv[1:] if arguments is None else arguments
    named = next((word for word in words if word in COMMANDS), "")
    top = parser(named)
    if problem := wrong_command(words, COMMANDS):
        top.error(problem)
    given = vars(top.parse_args(words))
    try:
        for text in said(given.pop("command"), given):
            print(text, flush=True)
    except (ConfigError, OpsError) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # whoever read it has read enough, as `head` has
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    return 0


if __name__ == "__main__":
    sys.exit(main())
