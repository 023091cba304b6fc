"""`./hpod replace` and `./hpod reboot`: drain, call HyperPod, wait, check, resume."""

from collections.abc import Sequence

from cli.confirm import Confirm, without_asking
from cli.counted import counted
from cli.deployment import Deployment
from cli.node_actions.batches import CONTROLLERS_PAGE, Options, Outcome, Run, demand_another
from cli.node_actions.drained import jobs_on, jobs_table
from cli.node_actions.site import Site
from cli.node_actions.slurm import Job
from cli.node_directory import Node, labels
from cli.remote.shell import Shell
from cli.result import Block, Result, Show, Table, ignore, warning_problem
from config.instance_group import Role
from config.model import slurm_of
from config.slurm import Database

LOSSES = {
    "replace": "HyperPod deletes their disks and starts new instances.",
    "reboot": "Their disks stay.",
}
END = {
    False: "these jobs end; Slurm requeues batch jobs, except those submitted with --no-requeue",
    True: "these pods end; the controllers of jobs may start them again on other nodes",
}
WAIT = {
    False: "waiting for these jobs to end; --force does not wait",
    True: "evicting the pods that another node can run, and waiting for those of jobs; --force does not wait",
}
"""What happens to jobs and pods, by whether the scheduler is Kubernetes."""


def recover(
    deployment: Deployment,
    action: str,
    *,
    nodes: Sequence[str],
    options: Options,
    confirm: Confirm = without_asking,
    show: Show = ignore,
    shell: Shell | None = None,
) -> Result:
    """Replace or reboot the nodes, and return the result of each."""
    site, chosen = Site.of(deployment, nodes, drain=options.drain, shell=shell, show=show)
    if options.drain:
        site.demand_known(chosen)
    demand_another(site, action, chosen, force=options.force)
    jobs = jobs_on(site, chosen)
    warned = _warnings(site, action, chosen)
    for line in (*(f"warning: {each}" for each in warned), *_jobs_lines(site, jobs, options)):
        show(line)
    names = labels(chosen)
    confirm(f"{action.capitalize()} {counted(len(chosen), 'node')} of {site.cluster} ({names})? {LOSSES[action]}")
    outcomes = Run(site, action, options).outcomes(chosen)
    return _result(site, action, outcomes, jobs, warned)


def _warnings(site: Site, action: str, nodes: Sequence[Node]) -> list[str]:
    """Return a warning for each loss with the controllers and login nodes among the nodes."""
    chosen = [node for node in nodes if node.role == Role.CONTROLLER]
    found = (_replaced(site) if action == "replace" else _rebooted(site, chosen)) if chosen else []
    if any(node.role == Role.LOGIN for node in nodes):
        found.append("open shells on login nodes end")
    return found


def _replaced(site: Site) -> list[str]:
    slurm = slurm_of(site.deployment.config)
    lines = ["HyperPod may refuse to replace Slurm controllers (AWS documents that it does)"]
    if slurm.state_folder is None:
        lines.append("replacing the controller ends all running jobs and empties the queue: `slurm.state_folder` is not set")
    if slurm.accounting.database is Database.LOCAL:
        lines.append("the accounting database is deleted with the controller's disk: `slurm.accounting.database` is local")
    return [*lines, f"see {CONTROLLERS_PAGE}"]


def _rebooted(site: Site, chosen: Sequence[Node]) -> list[str]:
    if len(chosen) < len(site.of_role(Role.CONTROLLER)):
        return ["another controller takes over during the reboot"]
    return ["jobs run on, but Slurm's commands do not answer until the controller is back"]


def _jobs_lines(site: Site, jobs: Sequence[Job], options: Options) -> list[Block]:
    if not jobs:
        return []
    ends = options.force or not options.drain
    return [jobs_table(site, jobs), (END if ends else WAIT)[site.is_eks]]


def _result(site: Site, action: str, outcomes: Sequence[Outcome], jobs: Sequence[Job], warned: Sequence[str]) -> Result:
    data = {
        "cluster": site.cluster,
        "nodes": [{**each.data(), "new_instance_id": each.now.instance if each.now else None} for each in outcomes],
        "jobs": [job.data() for job in jobs],
    }
    rows = [(each.node.label, (each.now or each.node).instance, each.result) for each in outcomes]
    text: list[Block] = [Table(("NODE", "INSTANCE", "RESULT"), rows)]
    # Too long for the table.
    if details := [f"{each.node.label}: {each.result}: {each.text}" for each in outcomes if each.text]:
        text.append("\n".join(details))
    problems = [warning_problem(line) for line in warned]
    if all(outcome.is_done for outcome in outcomes):
        return Result(data, text, problems)
    text.append("\n".join(_next_steps(site, action, outcomes)))
    failed = sum(bool(outcome.problem) for outcome in outcomes)
    if not failed:
        return Result(data, text, problems, f"{action} not started: jobs did not end in time")
    return Result(data, text, problems, f"{action} failed for {failed} of {counted(len(outcomes), 'node')}")


def _next_steps(site: Site, action: str, outcomes: Sequence[Outcome]) -> list[str]:
    """Return the commands for the nodes that failed, and for those that were not started."""
    failed = [outcome.now or outcome.node for outcome in outcomes if outcome.problem]
    left = [outcome.node for outcome in outcomes if not outcome.tried]
    kept = "failed nodes stay drained; " if site.scheduler else ""
    resume = [f"{kept}once they are healthy: {site.command('resume', failed)}"] if failed else []
    return [*resume, f"to try again: {site.command(action, [*failed, *left])}"]
