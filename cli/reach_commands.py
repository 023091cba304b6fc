"""Commands that reach nodes: their arguments, options and help. Each imports its module when it runs, to start fast."""

from pathlib import Path
from typing import Annotated

import typer

from cli.command_line import CommandModule
from cli.target import ConfirmedTarget, DefaultTarget, Target, after_cluster, examples, timeout_s

commands = CommandModule()

NAMES = "any name of a node, a group, login or controller"
Identity = Annotated[Path | None, typer.Option(metavar="FILE", help="Private key for ssh (default: ssh's own choice).")]


@commands.command(
    help="Open a shell on a node, or write entries for OpenSSH.",
    epilog=examples("ssh prod", "ssh prod ip-10-1-0-9", "ssh prod workers-1 --user alice", "ssh prod --config --user alice"),
)
def ssh(
    target: DefaultTarget,
    node: Annotated[str | None, after_cluster("NODE", f"Node: {NAMES} (default: login, else controller)")] = None,
    config: Annotated[bool, typer.Option("--config", help="Write an entry per node for ssh, scp, sftp and VS Code.")] = False,
    only_print: Annotated[bool, typer.Option("--print", help="With --config: print the entries, write nothing.")] = False,
    user: Annotated[
        str | None, typer.Option(metavar="NAME", help="User on the node (default: root; with --config you, or ubuntu).")
    ] = None,
    identity: Identity = None,
) -> None:
    from cli.reach.ssh import ssh as shell
    from cli.reach.ssh import ssh_config

    if config:
        if node:
            raise typer.BadParameter("--config writes an entry for every node; remove NODE")
        target.run_on_deployment(ssh_config, user=user, identity=identity, only_print=only_print)
        return
    for given, option in ((only_print, "--print"), (identity, "--identity"), (target.output != "text", "--output json")):
        if given:
            raise typer.BadParameter(f"{option} requires --config")
    target.run_on_deployment(shell, node=node, user=user)


@commands.command(
    help="Run a command as root on nodes, and print each output.",
    epilog=examples("run prod controller -- sinfo", "run prod workers -- nvidia-smi -L", "run prod all -- 'df -h | grep fsx'"),
)
def run(
    target: Target,
    node: Annotated[str, typer.Argument(metavar="NODE|GROUP|all", help=f"Nodes: {NAMES}, or all.")],
    words: Annotated[list[str], typer.Argument(metavar="CMD", help="Command, after `--`; a single word is a line for bash.")],
    timeout: Annotated[
        str, typer.Option(metavar="TIME", help="Kill the command after this time (exit status 124), e.g. 10m.")
    ] = "2m",
) -> None:
    from cli.reach.run import run as command

    target.run_on_deployment(command, node=node, words=words, timeout_s=timeout_s(timeout))


@commands.command(
    help="Copy files or folders from or to a node, by scp.",
    epilog=examples("copy prod train.py login:/fsx/alice/ --user alice", "copy prod workers-1:/var/log/slurm ./logs"),
)
def copy(
    target: Target,
    source: Annotated[str, typer.Argument(metavar="SRC", help="File or folder; NODE:PATH on a node.")],
    destination: Annotated[str, typer.Argument(metavar="DST", help="File or folder; NODE:PATH on a node.")],
    user: Annotated[str | None, typer.Option(metavar="NAME", help="User on the node (default: you, or ubuntu).")] = None,
    identity: Identity = None,
) -> None:
    from cli.reach.copy import copy as command

    is_quiet = target.output != "text"
    target.run_on_deployment(command, source=source, destination=destination, user=user, identity=identity, quiet=is_quiet)


@commands.command(
    help="Run deployed scripts on Slurm nodes without an agent.",
    epilog=examples("rerun-scripts prod", "rerun-scripts prod workers-1 --yes", "rerun-scripts prod workers --timeout 30m --yes"),
)
def rerun_scripts(
    target: ConfirmedTarget,
    node: Annotated[str | None, typer.Argument(metavar="NODE|GROUP", help=f"Nodes: {NAMES} (default: all).")] = None,
    timeout: Annotated[str, typer.Option(metavar="TIME", help="Kill the scripts of a node after this time.")] = "15m",
) -> None:
    from cli.reach.rerun_scripts import rerun_scripts as command

    seconds = timeout_s(timeout)
    target.run_on_deployment(command, node=node, timeout_s=seconds, confirm=target.confirm, show=target.show)


@commands.command(
    help="Write a kubectl context for an EKS cluster.",
    epilog=examples("kubeconfig prod", "kubeconfig prod --team research --profile research"),
)
def kubeconfig(
    target: DefaultTarget,
    context: Annotated[
        str | None, typer.Option(metavar="NAME", help="Name of the context (default: the cluster file's name).")
    ] = None,
    role_arn: Annotated[str | None, typer.Option(metavar="ARN", help="IAM role that kubectl assumes (default: none).")] = None,
    team: Annotated[str | None, typer.Option(metavar="NAME", help="Team whose namespace is the context's default.")] = None,
    write: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Kubeconfig to change (default: KUBECONFIG's first, or ~/.kube/config).")
    ] = None,
    only_print: Annotated[bool, typer.Option("--print", help="Print a kubeconfig, write nothing.")] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Replace a context of this name that belongs to another cluster.")
    ] = False,
) -> None:
    from cli.kubeconfig import kubeconfig as command

    if only_print and write:
        raise typer.BadParameter("--print writes nothing; remove --write")
    options = {"context": context, "role_arn": role_arn, "team": team, "write": write, "only_print": only_print, "force": force}
    target.run_on_deployment(command, **options)
