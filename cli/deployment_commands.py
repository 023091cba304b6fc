"""Commands on deployments: their arguments, options and help. Each imports its module when it runs, to start fast."""

from typing import Annotated, Literal

import typer

from cli.access import Access
from cli.arguments import ClusterOrFile, ClusterOrOnly, Clusters, Output, Profile, Region, Yes, after_cluster, examples
from cli.cluster_folder import CLUSTERS
from cli.confirm import confirmation
from cli.help import CommandModule
from cli.render import line_printer
from cli.run import run, run_on_deployment
from cli.time_span import time_span

commands = CommandModule()


@commands.command("list", help="List cluster files and deployed clusters.", epilog=examples("list"))
def list_(clusters: Clusters = CLUSTERS, profile: Profile = None, region: Region = None, output: Output = "text") -> None:
    from cli.clusters import list_clusters as command

    run("list", command, output, clusters=clusters, access=Access(profile, region))


@commands.command(
    help="Show groups, nodes, file systems, alarms and events.",
    epilog=examples("status prod", "status prod --watch", "status prod --output json"),
)
def status(
    cluster: ClusterOrOnly,
    clusters: Clusters = CLUSTERS,
    watch: Annotated[bool, typer.Option("--watch", help="Print the state every 10 seconds until Ctrl-C.")] = False,
    show_all: Annotated[bool, typer.Option("--all", help="List all nodes of a cluster of more than 30.")] = False,
    profile: Profile = None,
    region: Region = None,
    output: Output = "text",
) -> None:
    from cli.status.command import status as command
    from cli.status.command import watch as watching

    if watch and output != "text":
        raise typer.BadParameter("--watch prints text until Ctrl-C; remove --output json")
    run_on_deployment(
        "status",
        watching if watch else command,
        output,
        cluster=cluster,
        clusters=clusters,
        access=Access(profile, region),
        show_all=show_all,
    )


@commands.command(
    help="Print what happened, and what requires an action.",
    epilog=examples("events prod", "events prod --since 7d", "events prod --follow"),
)
def events(
    cluster: ClusterOrOnly,
    clusters: Clusters = CLUSTERS,
    since: Annotated[str, typer.Option(metavar="TIME", help="Time span, e.g. 30m, 24h, 7d.")] = "24h",
    follow: Annotated[bool, typer.Option("--follow", help="Print new events until Ctrl-C.")] = False,
    profile: Profile = None,
    region: Region = None,
    output: Output = "text",
) -> None:
    from cli.events.command import events as command

    if follow and output != "text":
        raise typer.BadParameter("--follow prints text until Ctrl-C; remove --output json")
    run_on_deployment(
        "events",
        command,
        output,
        cluster=cluster,
        clusters=clusters,
        access=Access(profile, region),
        since=time_span("--since", since),
        follow=follow,
        show=line_printer(output),
    )


@commands.command(
    help="List nodes with all their names and addresses.", epilog=examples("nodes prod", "nodes prod --output json")
)
def nodes(
    cluster: ClusterOrOnly,
    clusters: Clusters = CLUSTERS,
    profile: Profile = None,
    region: Region = None,
    output: Output = "text",
) -> None:
    from cli.nodes import nodes as command

    run_on_deployment("nodes", command, output, cluster=cluster, clusters=clusters, access=Access(profile, region))


@commands.command(
    help="Compare the file with the cluster and its nodes.",
    epilog=examples("drift prod", "drift prod --exit-code"),
)
def drift(
    cluster: ClusterOrOnly,
    clusters: Clusters = CLUSTERS,
    exit_code: Annotated[bool, typer.Option("--exit-code", help="Exit with 1 if anything differs.")] = False,
    profile: Profile = None,
    region: Region = None,
    output: Output = "text",
) -> None:
    from cli.drift.command import drift as command

    run_on_deployment(
        "drift",
        command,
        output,
        cluster=cluster,
        clusters=clusters,
        access=Access(profile, region),
        exit_code=exit_code,
    )


@commands.command(
    help="Print lifecycle and health logs, also of former nodes.",
    epilog=examples("logs prod", "logs prod workers-1 --follow", "logs prod workers-1 --kind health"),
)
def logs(
    cluster: ClusterOrOnly,
    node: Annotated[str | None, after_cluster("NODE", "Name or instance id of a node, e.g. workers-1 (default: list)")] = None,
    clusters: Clusters = CLUSTERS,
    kind: Annotated[
        Literal["lifecycle", "health", "deep-health"],
        typer.Option(help="Lifecycle scripts, health-monitoring agent, or results of deep health checks."),
    ] = "lifecycle",
    follow: Annotated[bool, typer.Option("--follow", help="Print new lines until Ctrl-C.")] = False,
    profile: Profile = None,
    region: Region = None,
    output: Output = "text",
) -> None:
    from cli.logs import logs as command

    if follow and node is None:
        raise typer.BadParameter("--follow prints the log of one node; add NODE")
    if follow and output != "text":
        raise typer.BadParameter("--follow prints text until Ctrl-C; remove --output json")
    show = line_printer(output)
    run_on_deployment(
        "logs",
        command,
        output,
        cluster=cluster,
        clusters=clusters,
        access=Access(profile, region),
        node=node,
        kind=kind,
        follow=follow,
        show=show,
    )


@commands.command(
    help="Print the outputs of the stacks: addresses, names, ids.",
    epilog=examples("outputs prod", "outputs prod ClusterName"),
)
def outputs(
    cluster: ClusterOrOnly,
    name: Annotated[str | None, after_cluster("NAME", "Print only the value of this output")] = None,
    clusters: Clusters = CLUSTERS,
    profile: Profile = None,
    region: Region = None,
    output: Output = "text",
) -> None:
    from cli.outputs import outputs as command

    run_on_deployment("outputs", command, output, cluster=cluster, clusters=clusters, access=Access(profile, region), name=name)


@commands.command(help="Print resources kept by cdk destroy, as YAML.", epilog=examples("retained prod"))
def retained(
    cluster: ClusterOrOnly,
    clusters: Clusters = CLUSTERS,
    profile: Profile = None,
    region: Region = None,
    output: Output = "text",
) -> None:
    from cli.retained import retained as command

    run_on_deployment("retained", command, output, cluster=cluster, clusters=clusters, access=Access(profile, region))


@commands.command(
    help="Preview an adoption, or release a cluster (--release).",
    epilog=examples("adopt prod", "adopt prod --release"),
)
def adopt(
    cluster: ClusterOrFile,
    clusters: Clusters = CLUSTERS,
    release: Annotated[bool, typer.Option("--release", help="Remove the tags of an owner that no longer exists.")] = False,
    yes: Yes = False,
    profile: Profile = None,
    region: Region = None,
    output: Output = "text",
) -> None:
    from cli.adopt import adopt as command

    run_on_deployment(
        "adopt",
        command,
        output,
        cluster=cluster,
        clusters=clusters,
        access=Access(profile, region),
        release=release,
        confirm=confirmation(yes=yes),
    )


@commands.command(
    "continue-rollback",
    help="Continue a failed rollback (UPDATE_ROLLBACK_FAILED).",
    epilog=examples("continue-rollback prod", "continue-rollback prod --skip"),
)
def continue_rollback(
    cluster: ClusterOrFile,
    clusters: Clusters = CLUSTERS,
    skip: Annotated[bool, typer.Option("--skip", help="Skip the resources that failed, and end the rollback.")] = False,
    yes: Yes = False,
    profile: Profile = None,
    region: Region = None,
    output: Output = "text",
) -> None:
    from cli.rollback import continue_rollback as command

    run_on_deployment(
        "continue-rollback",
        command,
        output,
        cluster=cluster,
        clusters=clusters,
        access=Access(profile, region),
        skip=skip,
        confirm=confirmation(yes=yes),
    )
