"""Drain nodes in the scheduler, and wait until their jobs have ended."""

from collections.abc import Collection, Sequence

from cli.counted import counted
from cli.errors import UnreachableError
from cli.node_actions.patience import Patience
from cli.node_actions.site import Site
from cli.node_actions.slurm import Job
from cli.node_directory import Node
from cli.result import Table


def jobs_table(site: Site, jobs: Sequence[Job]) -> Table:
    """Return the jobs, or the pods of Kubernetes, as a table."""
    head = ("POD", "OWNER", "STATE", "ELAPSED", "NODE") if site.is_eks else ("JOB", "USER", "STATE", "ELAPSED", "NODES", "NAME")
    rows = [(job.id, job.user, job.state, job.elapsed, job.hosts, job.name) for job in jobs]
    return Table(head, [row[: len(head)] for row in rows])


def jobs_on(site: Site, nodes: Collection[Node]) -> list[Job]:
    """Return the jobs that run on the nodes."""
    known = site.in_scheduler(nodes)
    return site.scheduler.jobs(known) if site.scheduler else []


def drain(site: Site, nodes: Sequence[Node], reason: str) -> set[str]:
    """Drain the nodes that are not drained yet, and return the hosts; others keep their reason."""
    if site.scheduler is None:
        return set()
    hosts = {host for host, node in site.in_scheduler(nodes).items() if not node.is_drained}
    site.scheduler.drain(hosts, reason)
    if hosts:
        undo = site.command("resume", [node for node in nodes if node.host in hosts])
        site.show(f"drained {counted(len(hosts), 'node')}; to undo it: {undo}")
    return hosts


def without_jobs(site: Site, nodes: Sequence[Node], patience: Patience) -> str:
    """Wait until no job runs on the nodes; return the problem at the deadline, or an empty text."""
    last: list[Job] = []
    staying: set[str] = set()
    problem = ""
    hosts = {node.host for node in nodes}

    def ended() -> bool:
        nonlocal problem
        try:
            returning = site.scheduler.evict(hosts) if site.scheduler else set()
            jobs = [job for job in jobs_on(site, nodes) if job.id not in returning]
        except UnreachableError as error:  # one failed session must not end an hour's wait
            problem = f"{site.scheduler_name} does not answer: {error}"
            return False
        if new := sorted(returning - staying):
            site.show(f"not waiting for {counted(len(new), 'pod')} that can start on cordoned nodes: {', '.join(new[:10])}")
        staying.update(new)
        if jobs and len(jobs) != len(last):
            site.show(f"waiting for {counted(len(jobs), 'job')} to end: {', '.join(job.id for job in jobs[:10])}")
        last[:] = jobs
        problem = f"{counted(len(jobs), 'job')} still running after {patience.span}"
        return not jobs

    return "" if patience.until(ended) else problem


def released(site: Site, nodes: Sequence[Node], hosts: Collection[str]) -> dict[str, str]:
    """Resume those of the drained hosts on which no job runs, and return a note for each, by instance id."""
    try:
        jobs_on(site, nodes)  # raises an error while it is unknown whether jobs run
        idle = {host for host, node in site.in_scheduler(nodes).items() if host in hosts and node.is_idle_and_drained}
        if site.scheduler:
            site.scheduler.resume(idle)
    except UnreachableError as error:  # the nodes stay drained, and the result names the command that resumes them
        site.show(f"nodes without jobs stay drained: {error}")
        return {}
    if idle:
        site.show(f"resumed {counted(len(idle), 'node')} without jobs")
    return {node.instance: "resumed, because jobs on other nodes did not end" for node in nodes if node.host in idle}
