"""Commands on deployments: their arguments, options and help. Each imports its module when it runs, to start fast."""

from typing import Annotated, Literal

import typer

from cli.command_line import CommandModule
from cli.target import ConfirmedTarget, DefaultTarget, FolderAtAws, after_cluster, examples, time_span

commands = CommandModule()


@commands.command("list", help="List cluster files and deployed clusters.", epilog=examples("list"))
def list_(folder: FolderAtAws) -> None:
    from cli.clusters import list_clusters as command

    folder.run(command, access=folder.access)


@commands.command(
    help="Show groups, nodes, file systems, alarms and events.",
    epilog=examples("status prod", "status prod --watch", "status prod --output json"),
)
def status(
    target: DefaultTarget,
    watch: Annotated[bool, typer.Option("--watch", help="Print the state every 10 seconds until Ctrl-C.")] = False,
    show_all: Annotated[bool, typer.Option("--all", help="List all nodes of a cluster of more than 30.")] = False,
) -> None:
    from cli.status.command import status as command
    from cli.status.command import watch as watching

    if watch:
        target.demand_text("--watch")
    target.run_on_deployment(watching if watch else command, show_all=show_all)


@commands.command(
    help="Print what happened, and what requires an action.",
    epilog=examples("events prod", "events prod --since 7d", "events prod --follow"),
)
def events(
    target: DefaultTarget,
    since: Annotated[str, typer.Option(metavar="TIME", help="Time span, e.g. 30m, 24h, 7d.")] = "24h",
    follow: Annotated[bool, typer.Option("--follow", help="Print new events until Ctrl-C.")] = False,
) -> None:
    from cli.events.command import events as command

    if follow:
        target.demand_text("--follow")
    target.run_on_deployment(command, since=time_span("--since", since), follow=follow, show=target.show)


@commands.command(
    help="List nodes with all their names and addresses.", epilog=examples("nodes prod", "nodes prod --output json")
)
def nodes(target: DefaultTarget) -> None:
    from cli.nodes import nodes as command

    target.run_on_deployment(command)


@commands.command(
    help="Compare the file with the cluster and its nodes.",
    epilog=examples("drift prod", "drift prod --exit-code"),
)
def drift(
    target: DefaultTarget,
    exit_code: Annotated[bool, typer.Option("--exit-code", help="Exit with 1 if anything differs.")] = False,
) -> None:
    from cli.drift.command import drift as command

    target.run_on_deployment(command, exit_code=exit_code)


@commands.command(
    help="Print lifecycle and health logs, also of former nodes.",
    epilog=examples("logs prod", "logs prod workers-1 --follow", "logs prod workers-1 --kind health"),
)
def logs(
    target: DefaultTarget,
    node: Annotated[str | None, after_cluster("NODE", "Name or instance id of a node, e.g. workers-1 (default: list)")] = None,
    kind: Annotated[
        Literal["lifecycle", "health", "deep-health"],
        typer.Option(help="Lifecycle scripts, health-monitoring agent, or results of deep health checks."),
    ] = "lifecycle",
    follow: Annotated[bool, typer.Option("--follow", help="Print new lines until Ctrl-C.")] = False,
) -> None:
    from cli.logs import logs as command

    if follow and node is None:
        raise typer.BadParameter("--follow prints the log of one node; add NODE")
    if follow:
        target.demand_text("--follow")
    target.run_on_deployment(command, node=node, kind=kind, follow=follow, show=target.show)


@commands.command(
    help="Print the outputs of the stacks: addresses, names, ids.",
    epilog=examples("outputs prod", "outputs prod ClusterName"),
)
def outputs(
    target: DefaultTarget,
    name: Annotated[str | None, after_cluster("NAME", "Print only the value of this output")] = None,
) -> None:
    from cli.outputs import outputs as command

    target.run_on_deployment(command, name=name)


@commands.command(help="Print resources kept by cdk destroy, as YAML.", epilog=examples("retained prod"))
def retained(target: DefaultTarget) -> None:
    from cli.retained import retained as command

    target.run_on_deployment(command)


@commands.command(
    help="Preview an adoption, or release a cluster (--release).",
    epilog=examples("adopt prod", "adopt prod --release"),
)
def adopt(
    target: ConfirmedTarget,
    release: Annotated[bool, typer.Option("--release", help="Remove the tags of an owner that no longer exists.")] = False,
) -> None:
    from cli.adopt import adopt as command

    target.run_on_deployment(command, release=release, confirm=target.confirm)


@commands.command(
    "continue-rollback",
    help="Continue a failed rollback (UPDATE_ROLLBACK_FAILED).",
    epilog=examples("continue-rollback prod", "continue-rollback prod --skip"),
)
def continue_rollback(
    target: ConfirmedTarget,
    skip: Annotated[bool, typer.Option("--skip", help="Skip the resources that failed, and end the rollback.")] = False,
) -> None:
    from cli.rollback import continue_rollback as command

    target.run_on_deployment(command, skip=skip, confirm=target.confirm)
