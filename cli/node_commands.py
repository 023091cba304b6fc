"""Commands on nodes: their arguments, options and help. Each imports its module when it runs, to start fast."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.access import Access
from cli.arguments import ClusterOrFile, Clusters, Output, Profile, Region, Yes, examples
from cli.cluster_folder import CLUSTERS, cluster_folder
from cli.confirm import confirmation
from cli.help import CommandModule
from cli.render import line_printer
from cli.run import run_on_deployment
from cli.time_span import timeout_s

if TYPE_CHECKING:
    from cli.node_actions.recover import Options

commands = CommandModule()

Nodes = Annotated[
    list[str],
    typer.Argument(metavar="NODE|GROUP", help="Names, instance ids, host names or addresses of nodes, or groups."),
]
ForceNodes = Annotated[bool, typer.Option("--force", help="Do not wait for jobs: they end or are requeued.")]
NoDrain = Annotated[
    bool, typer.Option("--no-drain", help="Neither drain nodes nor wait for jobs, e.g. if no controller or API server answers.")
]
Timeout = Annotated[str, typer.Option(metavar="TIME", help="Longest wait for jobs, and then for nodes, e.g. 90m.")]
Reason = Annotated[str, typer.Option(metavar="TEXT", help="Why; `./hpod status` shows it (with Slurm also sinfo -R).")]


def _options(*, force: bool, no_drain: bool, reason: str, timeout: str) -> "Options":
    from cli.node_actions.patience import Patience
    from cli.node_actions.recover import Options

    return Options(force, not no_drain, reason, Patience(timeout_s(timeout)))


def _recover(action: str, cluster: str, output: str, access: Access, clusters: Path, *, yes: bool, **arguments: object) -> None:
    from cli.node_actions.recover import recover as command

    run_on_deployment(
        action,
        command,
        output,
        cluster=cluster,
        clusters=clusters,
        access=access,
        action=action,
        confirm=confirmation(yes=yes),
        show=line_printer(output),
        **arguments,
    )


@commands.command(
    help="Replace nodes with new instances, after their jobs.",
    epilog=examples("replace prod workers-3", "replace prod ip-10-1-0-9 i-0123456789abcdef0 --force --yes"),
)
def replace(
    cluster: ClusterOrFile,
    nodes: Nodes,
    clusters: Clusters = CLUSTERS,
    force: ForceNodes = False,
    no_drain: NoDrain = False,
    timeout: Timeout = "60m",
    reason: Reason = "",
    yes: Yes = False,
    profile: Profile = None,
    region: Region = None,
    output: Output = "text",
) -> None:
    options = _options(force=force, no_drain=no_drain, reason=reason, timeout=timeout)
    _recover("replace", cluster, output, Access(profile, region), clusters, yes=yes, nodes=nodes, options=options)


@commands.command(
    help="Reboot nodes, after their jobs.", epilog=examples("reboot prod workers-3", "reboot prod workers --timeout 4h")
)
def reboot(
    cluster: ClusterOrFile,
    nodes: Nodes,
    clusters: Clusters = CLUSTERS,
    force: ForceNodes = False,
    no_drain: NoDrain = False,
    timeout: Timeout = "60m",
    reason: Reason = "",
    yes: Yes = False,
    profile: Profile = None,
    region: Region = None,
    output: Output = "text",
) -> None:
    options = _options(force=force, no_drain=no_drain, reason=reason, timeout=timeout)
    _recover("reboot", cluster, output, Access(profile, region), clusters, yes=yes, nodes=nodes, options=options)


@commands.command(
    help="Run HyperPod's deep health checks on nodes.",
    epilog=examples("check prod workers-3", "check prod workers --checks InstanceStress,InstanceConnectivity"),
)
def check(
    cluster: ClusterOrFile,
    nodes: Nodes,
    clusters: Clusters = CLUSTERS,
    checks: Annotated[
        str, typer.Option(metavar="LIST", help="Checks: InstanceStress, InstanceConnectivity, MultiNodeTrainingValidation.")
    ] = "InstanceStress",
    timeout: Annotated[str, typer.Option(metavar="TIME", help="Longest wait for the results, e.g. 90m.")] = "3h",
    yes: Yes = False,
    profile: Profile = None,
    region: Region = None,
    output: Output = "text",
) -> None:
    from cli.node_actions.check import check as command
    from cli.node_actions.patience import Patience

    run_on_deployment(
        "check",
        command,
        output,
        cluster=cluster,
        clusters=clusters,
        access=Access(profile, region),
        nodes=nodes,
        checks=checks,
        patience=Patience(timeout_s(timeout)),
        confirm=confirmation(yes=yes),
        show=line_printer(output),
    )


@commands.command(
    help="Delete chosen nodes from their groups.", epilog=examples("delete prod workers-3 --scale", "delete prod workers-3")
)
def delete(
    cluster: ClusterOrFile,
    nodes: Nodes,
    clusters: Clusters = CLUSTERS,
    scale: Annotated[bool, typer.Option("--scale", help="Also lower instance_count in the cluster file.")] = False,
    force: ForceNodes = False,
    no_drain: NoDrain = False,
    timeout: Timeout = "60m",
    reason: Reason = "",
    yes: Yes = False,
    profile: Profile = None,
    region: Region = None,
    output: Output = "text",
) -> None:
    from cli.cluster_files import cluster_path
    from cli.node_actions.delete import delete as command

    run_on_deployment(
        "delete",
        command,
        output,
        cluster=cluster,
        clusters=clusters,
        access=Access(profile, region),
        nodes=nodes,
        file=cluster_path(cluster, cluster_folder(clusters)),
        options=_options(force=force, no_drain=no_drain, reason=reason, timeout=timeout),
        scale=scale,
        confirm=confirmation(yes=yes),
        show=line_printer(output),
    )


@commands.command(
    help="Stop new jobs on nodes; with EKS, also evict pods.",
    epilog=examples('drain prod workers-3 --reason "ECC errors"', "drain prod workers"),
)
def drain(
    cluster: ClusterOrFile,
    nodes: Nodes,
    clusters: Clusters = CLUSTERS,
    reason: Reason = "",
    profile: Profile = None,
    region: Region = None,
    output: Output = "text",
) -> None:
    from cli.node_actions.drain_commands import drain_nodes as command

    access = Access(profile, region)
    run_on_deployment("drain", command, output, cluster=cluster, clusters=clusters, access=access, nodes=nodes, reason=reason)


@commands.command(help="Return drained nodes to service.", epilog=examples("resume prod workers-3", "resume prod workers --yes"))
def resume(
    cluster: ClusterOrFile,
    nodes: Nodes,
    clusters: Clusters = CLUSTERS,
    yes: Yes = False,
    profile: Profile = None,
    region: Region = None,
    output: Output = "text",
) -> None:
    from cli.node_actions.drain_commands import resume_nodes as command

    run_on_deployment(
        "resume",
        command,
        output,
        cluster=cluster,
        clusters=clusters,
        access=Access(profile, region),
        nodes=nodes,
        confirm=confirmation(yes=yes),
        show=line_printer(output),
    )
