"""`./hpod drain` and `./hpod resume`."""

from collections.abc import Mapping, Sequence

from cli.confirm import Confirm, without_asking
from cli.counted import counted
from cli.deployment import Deployment
from cli.errors import CommandError
from cli.node_actions.drained import drain, jobs_on, jobs_table
from cli.node_actions.site import Site, hosts_table, reason_of
from cli.node_actions.slurm import Host
from cli.node_directory import Node
from cli.remote.shell import Shell
from cli.result import Block, Json, Result, Show, ignore
from config.instance_group import Role

OURS = "hpod "
RECOVERED = "HyperPod replaces or reboots it"
RUNNING = {
    False: "these jobs run to their end",
    True: "pods of jobs run to their end; others leave when their disruption budgets allow that, unless they tolerate cordons",
}
"""What happens to jobs and pods, by whether the scheduler is Kubernetes."""
FIELDS = dict.fromkeys(("slurm_state", "slurm_reason", "slurm_user", "kubernetes_state", "kubernetes_reason"))
FORMER = dict.fromkeys(("former_slurm_reason", "former_kubernetes_reason"))
"""The fields for both schedulers, without values."""


def drain_nodes(deployment: Deployment, *, nodes: Sequence[str], reason: str = "", shell: Shell | None = None) -> Result:
    """Stop new jobs on the nodes, and return the jobs that still run there."""
    site, chosen, known = _compute(deployment, nodes, shell)
    present = [node for node in chosen if node.host in known]
    drain(site, present, site.reason("drain", reason))
    jobs = jobs_on(site, present)
    after = site.in_scheduler(chosen)
    text: list[Block] = [hosts_table(site, _with_unknown(site, chosen, after))]
    text += [jobs_table(site, jobs), RUNNING[site.is_eks]] if jobs else []
    rows = [_data(site, node, after, "drained", "" if node in present else _unknown(site, node)) for node in chosen]
    data = {"cluster": site.cluster, "nodes": rows, "jobs": [job.data() for job in jobs]}
    work = "start pods" if site.is_eks else "take jobs"
    text.append(f"to {work} again: {site.command('resume', present)}")
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
    stopped = [node for node in known.values() if node.is_drained or node.is_down]
    resumed = [node for node in stopped if not node.is_in_recovery]
    skipped = [node.host for node in stopped if node.is_in_recovery]
    if foreign := [node for node in resumed if not node.reason.startswith(OURS)]:
        show(hosts_table(site, foreign))
        confirm(f"Resume {counted(len(foreign), 'node')} of {site.cluster} that ./hpod did not drain?")
    if site.scheduler:
        site.scheduler.resume({node.host for node in resumed})
    after = site.in_scheduler(chosen)
    text: list[Block] = [hosts_table(site, _with_unknown(site, chosen, after))]
    if resumed:
        text.append("\n".join(["resumed; former reasons:", *(f"  {node.host}: {node.reason}" for node in resumed)]))
    if skipped:
        text.append(f"not resumed, because HyperPod replaces or reboots them: {', '.join(skipped)}")
    former = {node.host: node.reason for node in resumed}
    rows = []
    for node in chosen:
        problem = RECOVERED if node.host in skipped else "" if node.host in known else _unknown(site, node)
        row = _data(site, node, after, "resumed" if node.host in former else "unchanged", problem)
        rows.append({**row, **FORMER, f"former_{_prefix(site)}_reason": former.get(node.host)})
    return Result({"cluster": site.cluster, "nodes": rows, "jobs": []}, text, [], _failure("resume", chosen, known, skipped))


def _compute(deployment: Deployment, names: Sequence[str], shell: Shell | None) -> tuple[Site, Sequence[Node], dict[str, Host]]:
    """Return the nodes of these names, and those that the scheduler knows; raise a CommandError if it knows none."""
    fix = f"`{deployment.hpod('status')}` shows the state of the cluster"
    site, chosen = Site.of(deployment, names, shell=shell, fix=fix)
    known = site.in_scheduler(chosen)
    if not known:
        labels = ", ".join(node.label for node in chosen)
        fix = "pass nodes that have joined" if site.is_eks else "pass compute nodes"
        raise CommandError(f"{site.scheduler_name} has none of these nodes: {labels}", fix)
    return site, chosen, known


def _with_unknown(site: Site, chosen: Sequence[Node], known: Mapping[str, Host]) -> list[Host]:
    """Return the state of each node, also of those that the scheduler does not know."""
    return [known.get(node.host) or Host(node.host or node.label, _unknown(site, node)) for node in chosen]


def _unknown(site: Site, node: Node) -> str:
    return "not a compute node" if node.role in (Role.CONTROLLER, Role.LOGIN) else f"unknown to {site.scheduler_name}"


def _failure(action: str, chosen: Sequence[Node], known: Mapping[str, Host], skipped: Sequence[str] = ()) -> str:
    """Return the failure of an action that left out nodes; empty if it left out none."""
    failed = len(skipped) + sum(node.host not in known for node in chosen)
    return f"{action} failed for {failed} of {counted(len(chosen), 'node')}" if failed else ""


def _prefix(site: Site) -> str:
    """Return the beginning of the fields with what the scheduler says of a node."""
    return site.scheduler_name.lower()


def _data(site: Site, node: Node, after: Mapping[str, Host], result: str, message: str) -> Json:
    own: Json = {}
    if state := after.get(node.host):
        prefix, reason = _prefix(site), reason_of(state)
        own = {f"{prefix}_state": state.state, f"{prefix}_reason": reason or None, "slurm_user": (reason and state.by) or None}
    return {**node.names, "result": "failed" if message else result, "message": message or None, **FIELDS, **own}
