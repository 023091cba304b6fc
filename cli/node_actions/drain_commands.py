"""`./hpod drain` and `./hpod resume`."""

from collections.abc import Sequence

from cli.deployment import Deployment
from cli.errors import OpsError
from cli.node_actions.drained import drain, jobs_on, jobs_table
from cli.node_actions.site import Site, hosts_table
from cli.node_actions.slurm import Job, SlurmNode
from cli.node_directory import Node
from cli.remote.shell import Shell
from cli.result import Block, Result

DOWN = "down"


def drain_nodes(deployment: Deployment, *, nodes: Sequence[str], reason: str = "", shell: Shell | None = None) -> Result:
    """Stop new jobs on the nodes, and return the jobs that still run there."""
    site, chosen, _ = _compute(deployment, nodes, shell)
    drain(site, chosen, site.reason("drain", reason))
    jobs = jobs_on(site, chosen)
    known = list(site.in_slurm(chosen).values())
    text: list[Block] = [hosts_table(known)]
    text += [jobs_table(jobs), "these jobs run to their end"] if jobs else []
    return _result(site, known, jobs, (*text, f"to take jobs again: {site.command('resume', chosen)}"))


def resume_nodes(deployment: Deployment, *, nodes: Sequence[str], shell: Shell | None = None) -> Result:
    """Return drained and down nodes to service."""
    site, chosen, known = _compute(deployment, nodes, shell)
    hosts = {host for host, node in known.items() if node.is_drained or node.state.startswith(DOWN)}
    if site.slurm:
        site.slurm.resume(hosts)
    after = list(site.in_slurm(chosen).values())
    return _result(site, after, (), (hosts_table(after),))


def _compute(
    deployment: Deployment, names: Sequence[str], shell: Shell | None
) -> tuple[Site, Sequence[Node], dict[str, SlurmNode]]:
    """Return the compute nodes of these names, with their states in Slurm; raise an OpsError if Slurm knows none."""
    site = Site.of(deployment, shell=shell, fix=f"`./hpod status {deployment.config.name}` shows the controllers' states")
    chosen = site.select(names)
    known = site.in_slurm(chosen)
    if not known:
        labels = ", ".join(node.label for node in chosen)
        raise OpsError(f"Slurm has none of these nodes: {labels}; pass compute nodes")
    return site, [node for node in chosen if node.host in known], known


def _result(site: Site, known: Sequence[SlurmNode], jobs: Sequence[Job], text: Sequence[Block]) -> Result:
    nodes = [{"host": node.host, "state": node.state, "by": node.by, "reason": node.reason} for node in known]
    return Result({"cluster": site.cluster, "nodes": nodes, "jobs": [job.data() for job in jobs]}, text)
