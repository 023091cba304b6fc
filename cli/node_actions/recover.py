"""`./hpod replace` and `./hpod reboot`: drain, call HyperPod, wait, check, resume."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from cli.confirm import Confirm, without_asking
from cli.counted import counted
from cli.deployment import Deployment
from cli.errors import CommandError, UnreachableError
from cli.node_actions.batches import OF_AWS, batches, call, problem_of
from cli.node_actions.controllers import demand_another, warnings
from cli.node_actions.drained import drain, jobs_on, jobs_table, released, without_jobs
from cli.node_actions.healthy import return_to_service
from cli.node_actions.patience import Patience
from cli.node_actions.returned import boots, instances, rebooted, replacements
from cli.node_actions.site import Site
from cli.node_actions.slurm import Job
from cli.node_directory import Node, labels
from cli.remote.shell import Shell
from cli.result import Block, Json, Result, Show, Table, ignore, warning_problem
from config.instance_group import Role

LOSSES = {
    "replace": "HyperPod deletes their disks and starts new instances.",
    "reboot": "Their disks stay.",
}
GONE = "no longer in the cluster"


@dataclass(frozen=True)
class Options:
    """The options of the commands; ``patience`` limits each wait."""

    force: bool = False
    drain: bool = True
    reason: str = ""
    patience: Patience = field(default_factory=lambda: Patience(3600))


@dataclass
class Outcome:
    """The result for a node: the instance that it is now, and the problem or the note."""

    node: Node
    now: Node | None = None
    problem: str = ""
    note: str = ""
    tried: bool = True

    def data(self) -> Json:
        """Return the outcome for JSON."""
        return {
            **self.node.names,
            "new_instance_id": self.now.instance if self.now else None,
            "result": self.result.replace(" ", "_"),
            "message": self.problem or self.note or None,
        }

    @property
    def result(self) -> str:
        """Return the result in a word or two."""
        return "not started" if not self.tried else "failed" if self.problem else "ok"

    def row(self) -> tuple[str, str, str]:
        """Return the cells of the outcome in a table."""
        return self.node.label, (self.now or self.node).instance, self.result

    def detail(self) -> str:
        """Return the line with the problem or the note, which is too long for a table; empty without one."""
        text = self.problem or self.note
        return f"{self.node.label}: {self.result}: {text}" if text else ""


@dataclass(frozen=True)
class Recovery:
    """One run of `replace` or `reboot`."""

    site: Site
    action: str
    options: Options

    def run(self, nodes: Sequence[Node]) -> list[Outcome]:
        """Act batch by batch, and stop after a batch with a problem."""
        outcomes = {node.instance: Outcome(node, tried=False) for node in nodes}
        for batch in batches(nodes):
            chosen = [outcomes[node.instance] for node in batch]
            for outcome in chosen:
                outcome.tried = True
            try:
                if batch[0].role == Role.CONTROLLER:
                    demand_another(self.site.again(), self.action, batch, force=self.options.force)
                self._act(chosen)
            except (CommandError, *OF_AWS) as error:  # not raised: the result names the nodes that are drained by now
                _blame(chosen, problem_of(self.action, error))
            if any(outcome.problem or not outcome.tried for outcome in chosen):
                break
        return list(outcomes.values())

    def _act(self, outcomes: Sequence[Outcome]) -> None:
        nodes = [outcome.node for outcome in outcomes]
        if self.options.drain:
            drained = drain(self.site, nodes, self.site.reason(self.action, self.options.reason))
            if not self.options.force and (busy := without_jobs(self.site, nodes, self.options.patience)):
                self._give_up(outcomes, busy, drained)
                return
        boot_ids = boots(self.site, nodes) if self.action == "reboot" else {}
        known = instances(self.site)
        problems = call(self.site, self.action, nodes)
        self.site.show(f"{self.action}: HyperPod accepted {counted(len(nodes) - len(problems), 'node')}")
        self._wait([outcome for outcome in outcomes if outcome.node.instance not in problems], boot_ids, known)
        for outcome in outcomes:
            outcome.problem = outcome.problem or problems.get(outcome.node.instance, "")

    def _give_up(self, outcomes: Sequence[Outcome], busy: str, drained: Collection[str]) -> None:
        """Return the nodes without jobs to service; the others stay drained, with the problem."""
        notes = released(self.site, [outcome.node for outcome in outcomes], drained)
        for outcome in outcomes:
            outcome.note = notes.get(outcome.node.instance, "")
            outcome.tried = not outcome.note
            outcome.problem = busy if outcome.tried else ""

    def _wait(self, outcomes: Sequence[Outcome], boot_ids: dict[str, str], known: set[str]) -> None:
        """Wait for the nodes or their replacements, and return them to service."""
        nodes, patience = [outcome.node for outcome in outcomes], self.options.patience
        if not nodes:
            return
        if self.action == "replace":
            pairs, problems = replacements(self.site, nodes, known, patience)
        else:
            problems = rebooted(self.site, nodes, boot_ids, patience)
            pairs = {node.instance: node.instance for node in nodes if node.instance not in problems}
        site = self.site.again()
        present = {node.instance: node for node in site.named}
        returned = {old: present[new] for old, new in pairs.items() if new in present}
        try:
            unhealthy, notes = return_to_service(site, list(returned.values()), self.action, patience)
        except UnreachableError as error:
            unhealthy, notes = {node.instance: f"not resumed: {error}" for node in returned.values()}, {}
        for outcome in outcomes:
            now = returned.get(outcome.node.instance)
            outcome.now = now if self.action == "replace" else None
            outcome.problem = problems.get(outcome.node.instance, "") or (unhealthy.get(now.instance, "") if now else GONE)
            outcome.note = notes.get(now.instance, "") if now else ""


def _blame(outcomes: Sequence[Outcome], problem: str) -> None:
    """Give each outcome the problem, unless it has one."""
    for outcome in outcomes:
        outcome.problem = outcome.problem or problem


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
    warned = warnings(site, action, chosen)
    for line in (*(f"warning: {each}" for each in warned), *_jobs_lines(site, jobs, options)):
        show(line)
    names = labels(chosen)
    confirm(f"{action.capitalize()} {counted(len(chosen), 'node')} of {site.cluster} ({names})? {LOSSES[action]}")
    outcomes = Recovery(site, action, options).run(chosen)
    return _result(site, action, outcomes, jobs, warned)


END = {
    False: "these jobs end; Slurm requeues batch jobs, except those submitted with --no-requeue",
    True: "these pods end; the controllers of jobs may start them again on other nodes",
}
WAIT = {
    False: "waiting for these jobs to end; --force does not wait",
    True: "evicting the pods that another node can run, and waiting for those of jobs; --force does not wait",
}
"""What happens to jobs and pods, by whether the scheduler is Kubernetes."""


def _jobs_lines(site: Site, jobs: Sequence[Job], options: Options) -> list[Block]:
    if not jobs:
        return []
    ends = options.force or not options.drain
    return [jobs_table(jobs, site.scheduler_name), (END if ends else WAIT)[site.is_eks]]


def _result(site: Site, action: str, outcomes: Sequence[Outcome], jobs: Sequence[Job], warned: Sequence[str]) -> Result:
    failed = [outcome.node for outcome in outcomes if outcome.problem]
    data = {
        "cluster": site.cluster,
        "nodes": [outcome.data() for outcome in outcomes],
        "jobs": [job.data() for job in jobs],
    }
    text: list[Block] = [Table(("NODE", "INSTANCE", "RESULT"), [outcome.row() for outcome in outcomes])]
    if details := [line for outcome in outcomes if (line := outcome.detail())]:
        text.append("\n".join(details))
    problems = [warning_problem(line) for line in warned]
    if not failed and all(outcome.tried for outcome in outcomes):
        return Result(data, text, problems)
    text.append("\n".join(_next_steps(site, action, outcomes)))
    if not failed:
        return Result(data, text, problems, f"{action} not started: jobs did not end in time")
    return Result(data, text, problems, f"{action} failed for {len(failed)} of {counted(len(outcomes), 'node')}")


def _next_steps(site: Site, action: str, outcomes: Sequence[Outcome]) -> list[str]:
    """Return the commands for the nodes that failed, and for those that were not started."""
    failed = [outcome.now or outcome.node for outcome in outcomes if outcome.problem]
    left = [outcome.node for outcome in outcomes if not outcome.tried]
    kept = "failed nodes stay drained; " if site.scheduler else ""
    resume = [f"{kept}once they are healthy: {site.command('resume', failed)}"] if failed else []
    return [*resume, f"to try again: {site.command(action, [*failed, *left])}"]
