"""`./hpod drain` and `./hpod resume`."""

from collections.abc import Mapping, Sequence

from cli.confirm import Confirm, without_asking
from cli.counted import counted
from cli.deployment import Deployment
from cli.errors import OpsError
from cli.node_actions.drained import drain, jobs_on, jobs_table
from cli.node_actions.site import Site, hosts_table, reason_of
from cli.node_actions.slurm import SlurmNode
from cli.node_directory import Node
from cli.remote.shell import Shell
from cli.result import Block, Json, Result, Show, ignore
from config.instance_group import Role

DOWN = "down"
OURS = "hpod "
RECOVERY = "Action:"
"""The beginning of Slurm's reason on nodes that HyperPod replaces or reboots."""


def drain_nodes(deployment: Deployment, *, nodes: Sequence[str], reason: str = "", shell: Shell | None = None) -> Result:
    """Stop new jobs on the nodes, and return the jobs that still run there."""
    site, chosen, known = _compute(deployment, nodes, shell)
    present = [node for node in chosen if node.host in known]
    drain(site, present, site.reason("drain", reason))
    jobs = jobs_on(site, present)
    after = site.in_slurm(chosen)
    text: list[Block] = [hosts_table(_with_unknown(chosen, after))]
    text += [jobs_table(jobs), "these jobs run to their end"] if jobs else []
    rows = [_data(node, after, "drained", "" if node in present else _unknown(node)) for node in chosen]
    data = {"cluster": site.cluster, "nodes": rows, "jobs": [job.data() for job in jobs]}
    text.append(f"to take jobs again: {site.command('resume', present)}")
    return Result(data, text, [], _failure("drain", chosen, known))


def resume_nodes(
    deployment: Deployment,
    *,
    nodes: Sequence[str],
    confirm: Confirm = without_asking,
    show: Show = ignore,
    shell: Shell | None = None,
) -> Result:
    """Return drained and down nodes to service, except those that HyperPod replaces or reboots."""
    site, chosen, known = _compute(deployment, nodes, shell)
    stopped = [node for node in known.values() if node.is_drained or node.state.startswith(DOWN)]
    resumed = [node for node in stopped if not node.reason.startswith(RECOVERY)]
    skipped = [node.host for node in stopped if node.reason.startswith(RECOVERY)]
    if foreign := [node for node in resumed if not node.reason.startswith(OURS)]:
        show(hosts_table(foreign))
        confirm(f"Resume {counted(len(foreign), 'node')} of {site.cluster} that ./hpod did not drain?")
    if site.slurm:
        site.slurm.resume({node.host for node in resumed})
    after = site.in_slurm(chosen)
    text: list[Block] = [hosts_table(_with_unknown(chosen, after))]
    if resumed:
        text.append("\n".join(["resumed; former reasons:", *(f"  {node.host}: {node.reason}" for node in resumed)]))
    if skipped:
        text.append(f"not resumed, because HyperPod replaces or reboots them: {', '.join(skipped)}")
    former = {node.host: node.reason for node in resumed}
    rows = [_resumed_data(node, after, former, "" if node.host in known else _unknown(node), skipped) for node in chosen]
    return Result({"cluster": site.cluster, "nodes": rows, "jobs": []}, text, [], _failure("resume", chosen, known, skipped))


def _compute(
    deployment: Deployment, names: Sequence[str], shell: Shell | None
) -> tuple[Site, Sequence[Node], dict[str, SlurmNode]]:
    """Return the nodes of these names, and those that Slurm knows; raise an OpsError if it knows none."""
    site = Site.of(deployment, shell=shell, fix=f"`./hpod status {deployment.config.name}` shows the controllers' states")
    chosen = site.select(names)
    known = site.in_slurm(chosen)
    if not known:
        labels = ", ".join(node.label for node in chosen)
        raise OpsError(f"Slurm has none of these nodes: {labels}; pass compute nodes")
    return site, chosen, known


def _with_unknown(chosen: Sequence[Node], known: Mapping[str, SlurmNode]) -> list[SlurmNode]:
    """Return the state of each node, also of those that Slurm does not know."""
    return [known.get(node.host) or SlurmNode(node.host or node.label, _unknown(node), "", "") for node in chosen]


def _unknown(node: Node) -> str:
    return "not a compute node" if node.role in (Role.CONTROLLER, Role.LOGIN) else "unknown to Slurm"


def _failure(action: str, chosen: Sequence[Node], known: Mapping[str, SlurmNode], skipped: Sequence[str] = ()) -> str:
    """Return the failure of an action that left out nodes; empty if it left out none."""
    failed = len(skipped) + sum(node.host not in known for node in chosen)
    return f"{action} failed for {failed} of {counted(len(chosen), 'node')}" if failed else ""


def _resumed_data(
    node: Node, after: Mapping[str, SlurmNode], former: Mapping[str, str], problem: str, skipped: Sequence[str]
) -> Json:
    """Return the node for JSON, with the reason that it had before."""
    message = "HyperPod replaces or reboots it" if node.host in skipped else problem
    result = "resumed" if node.host in former else "unchanged"
    return {**_data(node, after, result, message), "former_slurm_reason": former.get(node.host)}


def _data(node: Node, after: Mapping[str, SlurmNode], result: str, message: str) -> Json:
    state = after.get(node.host)
    reason = reason_of(state) if state else ""
    return {
        **node.names,
        "result": "failed" if message else result,
        "message": message or None,
        "slurm_state": state.state if state else None,
        "slurm_reason": reason or None,
        "slurm_user": state.by if state and reason else None,
    }
