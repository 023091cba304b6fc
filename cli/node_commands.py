"""Commands on nodes: their arguments, options and help. Each imports its module when it runs, to start fast."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from cli.command_line import CommandModule, Shared
from cli.target import ConfirmedTarget, Target, examples, timeout_s

if TYPE_CHECKING:
    from cli.node_actions.batches import Options

commands = CommandModule()

Nodes = Annotated[
    list[str],
    typer.Argument(metavar="NODE|GROUP", help="Names, instance ids, host names or addresses of nodes, or groups."),
]
Reason = Annotated[str, typer.Option(metavar="TEXT", help="Why; `./hpod status` shows it (with Slurm also sinfo -R).")]


@dataclass(frozen=True)
class Drain(Shared):
    """How a command drains nodes, and how long it waits for their jobs."""

    force: Annotated[bool, typer.Option("--force", help="Do not wait for jobs: they end or are requeued.")] = False
    no_drain: Annotated[
        bool,
        typer.Option("--no-drain", help="Neither drain nodes nor wait for jobs, e.g. if no controller or API server answers."),
    ] = False
    timeout: Annotated[str, typer.Option(metavar="TIME", help="Longest wait for jobs, and then for nodes, e.g. 90m.")] = "60m"
    reason: Reason = ""

    def options(self) -> "Options":
        """Return the options for the command's module."""
        from cli.node_actions.batches import Options
        from cli.node_actions.patience import Patience

        return Options(self.force, not self.no_drain, self.reason, Patience(timeout_s(self.timeout)))


@commands.command(
    help="Replace nodes with new instances, after their jobs.",
    epilog=examples("replace prod workers-3", "replace prod ip-10-1-0-9 i-0123456789abcdef0 --force --yes"),
)
def replace(target: ConfirmedTarget, nodes: Nodes, drain: Drain) -> None:
    _recover("replace", target, nodes, drain)


@commands.command(
    help="Reboot nodes, after their jobs.", epilog=examples("reboot prod workers-3", "reboot prod workers --timeout 4h")
)
def reboot(target: ConfirmedTarget, nodes: Nodes, drain: Drain) -> None:
    _recover("reboot", target, nodes, drain)


def _recover(action: str, target: ConfirmedTarget, nodes: list[str], drain: Drain) -> None:
    from cli.node_actions.recover import recover as command

    options = drain.options()
    target.run_on_deployment(command, action=action, nodes=nodes, options=options, confirm=target.confirm, show=target.show)


@commands.command(
    help="Run HyperPod's deep health checks on nodes.",
    epilog=examples("health-check prod workers-3", "health-check prod workers --checks InstanceConnectivity"),
)
def health_check(
    target: ConfirmedTarget,
    nodes: Nodes,
    checks: Annotated[
        str, typer.Option(metavar="LIST", help="Checks: InstanceStress, InstanceConnectivity, MultiNodeTrainingValidation.")
    ] = "InstanceStress",
    timeout: Annotated[str, typer.Option(metavar="TIME", help="Longest wait for the results, e.g. 90m.")] = "3h",
) -> None:
    from cli.node_actions.health_check import health_check as command
    from cli.node_actions.patience import Patience

    patience = Patience(timeout_s(timeout))
    target.run_on_deployment(command, nodes=nodes, checks=checks, patience=patience, confirm=target.confirm, show=target.show)


@commands.command(
    help="Delete chosen nodes from their groups.", epilog=examples("delete prod workers-3 --scale", "delete prod workers-3")
)
def delete(
    target: ConfirmedTarget,
    nodes: Nodes,
    drain: Drain,
    scale: Annotated[bool, typer.Option("--scale", help="Also lower instance_count in the cluster file.")] = False,
) -> None:
    from cli.cluster_files import cluster_path
    from cli.node_actions.delete import delete as command

    target.run_on_deployment(
        command,
        nodes=nodes,
        file=cluster_path(target.cluster, target.path),
        options=drain.options(),
        scale=scale,
        confirm=target.confirm,
        show=target.show,
    )


@commands.command(
    help="Stop new jobs on nodes; with EKS, also evict pods.",
    epilog=examples('drain prod workers-3 --reason "ECC errors"', "drain prod workers"),
)
def drain(target: Target, nodes: Nodes, reason: Reason = "") -> None:
    from cli.node_actions.drain_commands import drain_nodes as command

    target.run_on_deployment(command, nodes=nodes, reason=reason)


@commands.command(help="Return drained nodes to service.", epilog=examples("resume prod workers-3", "resume prod workers --yes"))
def resume(target: ConfirmedTarget, nodes: Nodes) -> None:
    from cli.node_actions.drain_commands import resume_nodes as command

    target.run_on_deployment(command, nodes=nodes, confirm=target.confirm, show=target.show)
