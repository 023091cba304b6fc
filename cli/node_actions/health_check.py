"""`./hpod health-check`: run HyperPod's deep health checks on nodes, and wait for their results.

Nodes are not drained. With Slurm, HyperPod reserves them, waits ten minutes for their jobs, and runs the checks as jobs.
https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-resiliency-slurm-deep-health-checks.html
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from botocore.exceptions import ClientError

from cli.aws_errors import explained
from cli.confirm import Confirm, without_asking
from cli.counted import counted
from cli.deployment import Deployment, hyperpod_log_group
from cli.errors import CommandError
from cli.node_actions.batches import OF_AWS
from cli.node_actions.drained import jobs_on, jobs_table
from cli.node_actions.patience import Patience
from cli.node_actions.returned import Seen
from cli.node_actions.site import Site
from cli.node_directory import Node
from cli.node_reports import LogLine, json_object, log_lines
from cli.remote.shell import Shell
from cli.result import Block, Json, Result, Show, Table, error_problem, ignore
from config.instance_group import DeepHealthCheck
from config.instance_types import accelerator, instance_type

IN_PROGRESS = "DeepHealthCheckInProgress"
STREAMS = "DeepHealthCheckResults/"
CLOCKS_DIFFER = timedelta(minutes=1)
LEFT_OUT = "no accelerators, which are what deep health checks test"
FAULTS = {"failed", "replaced"}
MESSAGES = {
    "skipped": "HyperPod skips nodes whose jobs run for more than ten minutes",
    "failed": "not Running",
    "replaced": "HyperPod found a fault",
    "unknown": "the log has errors, which name no node",
    "left_out": LEFT_OUT,
}
UNREADABLE = {**MESSAGES, "unknown": "the log could not be read"}
"""The messages without a log."""
INTERRUPTED = {
    False: "jobs run on; HyperPod skips a node whose job does not end within ten minutes",
    True: "these pods share the hardware with the checks, and can fail them; `./hpod drain` first",
}
"""What happens to jobs and pods, by whether the scheduler is Kubernetes."""


@dataclass(frozen=True)
class Log:
    """What HyperPod logged of a check; ``problem`` is why it could not be read."""

    records: Sequence[Json]
    problem: CommandError | None = None

    @property
    def errors(self) -> list[str]:
        """Return the messages of the errors."""
        return [record["message"] for record in self.records if record["level"] == "error"]


@dataclass
class HealthCheck:
    """A request for checks: the nodes, those that were seen under check, and the last look at the cluster."""

    site: Site
    nodes: Sequence[Node]
    checks: Sequence[str]
    since: datetime
    seen: Seen
    left_out: Sequence[Node] = ()
    checked: set[str] = field(default_factory=set)
    earlier: set[str] = field(default_factory=set)
    """Log streams of checks before this one."""

    def start(self) -> None:
        """Start the checks; raise a CommandError if HyperPod refuses."""
        self.earlier = {record["stream"] for record in self.records()}
        groups = dict.fromkeys(node.group for node in self.nodes)
        configurations = [
            {
                "InstanceGroupName": group,
                "InstanceIds": [node.instance for node in self.nodes if node.group == group],
                "DeepHealthChecks": list(self.checks),
            }
            for group in groups
        ]
        try:
            self.site.sagemaker.start_cluster_health_check(
                ClusterName=self.site.cluster, DeepHealthCheckConfigurations=configurations
            )
        except ClientError as error:
            if error.response["Error"]["Code"] not in ("ConflictException", "ValidationException"):
                raise
            message = error.response["Error"]["Message"]
            raise CommandError(
                f"HyperPod refuses the check: {message}", "a cluster has one check at a time: try again later"
            ) from error

    def is_done(self) -> bool:
        """Look at the operation and the nodes, and return whether HyperPod has ended the operation."""
        self.seen.look()
        now = {node.instance for node in self.nodes if self.seen.status_of(node.instance) == IN_PROGRESS}
        self.checked |= now
        operations = self.site.sagemaker.list_cluster_operations(
            ClusterName=self.site.cluster, Type="DeepHealthCheck", CreationTimeAfter=self.since - CLOCKS_DIFFER
        )["ClusterOperationSummaries"]
        self.seen.show(f"{len(now)} of {counted(len(self.nodes), 'node')} under check")
        return bool(operations) and all(each["Status"] != "InProgress" for each in operations) and not now

    def result_of(self, node: Node) -> str:
        """Return the result of a node: `passed`, `skipped`, `failed` or `replaced`."""
        status = self.seen.status_of(node.instance)
        if status in ("", "ShuttingDown"):
            return "replaced"
        if status == "Running":
            return "passed" if node.instance in self.checked else "skipped"
        return "in_progress" if status == IN_PROGRESS else "failed"

    def results(self, log: Log) -> dict[str, str]:
        """Return each node's result by instance id.

        Without a log, or with errors in it and no faulty node, none has passed for sure.
        """
        found = {node.instance: self.result_of(node) for node in self.nodes}
        if log.problem or (log.errors and not FAULTS & set(found.values())):
            found = {instance: "unknown" if result == "passed" else result for instance, result in found.items()}
        return found

    def results_so_far(self) -> dict[str, str]:
        """Return each node's result by instance id before HyperPod has ended the operation: only faults are known."""
        known = {node.instance: self.result_of(node) for node in self.nodes}
        is_seen = bool(self.seen.nodes)
        return {each: result if is_seen and result in FAULTS else "in_progress" for each, result in known.items()}

    def records(self) -> Iterator[Json]:
        """Return the results that HyperPod logged since the start, which name no instance."""
        group = hyperpod_log_group(self.site.deployment.cluster())
        client = self.site.deployment.client("logs")
        lines = log_lines(client, group, self.since - CLOCKS_DIFFER, streams=STREAMS)
        return (_record(line) for line in lines if line.stream not in self.earlier)


def _record(line: LogLine) -> Json:
    fields = json_object(line.message)
    level, message = str(fields.get("level", "info")), str(fields.get("msg", line.message))
    return {"stream": line.stream, "level": level, "message": message}


def health_check(
    deployment: Deployment,
    *,
    nodes: Sequence[str],
    checks: str,
    patience: Patience,
    confirm: Confirm = without_asking,
    show: Show = ignore,
    shell: Shell | None = None,
) -> Result:
    """Check the nodes, and return the result of each."""
    wanted = _parsed(checks)
    site, named = Site.of(deployment, nodes, drain=False, shell=shell, show=show)
    chosen = _with_accelerators(named)
    left_out = [node for node in named if node not in chosen]
    if left_out:
        show(f"left out: {LEFT_OUT}: {', '.join(node.label for node in left_out)}")
    jobs = jobs_on(site, chosen)
    for block in (jobs_table(site, jobs), INTERRUPTED[site.is_eks]) if jobs else ():
        show(block)
    question = (
        f"Check {counted(len(chosen), 'node')} of {site.cluster} ({', '.join(wanted)})? They take no jobs for up to two hours"
    )
    confirm(f"{question}, and HyperPod may replace faulty ones.")
    if site.scheduler:
        site.scheduler.allow_checks({node.host for node in chosen})
    run = HealthCheck(site, chosen, wanted, datetime.now(UTC), Seen(site), left_out)
    run.start()
    try:
        done = patience.until(run.is_done)
    except OF_AWS as error:  # not raised: the check continues, and the result has the known faults
        return _unfinished(run, explained("health-check", error))
    return _finished(run, _log_of(run)) if done else _unfinished(run, CommandError(f"not done after {patience.span}"))


def _with_accelerators(nodes: Sequence[Node]) -> list[Node]:
    """Return the nodes that HyperPod checks; raise a CommandError if there are none."""
    found = [node for node in nodes if instance_type(node.instance_type) is None or accelerator(node.instance_type)]
    if not found:
        types = ", ".join(sorted({node.instance_type for node in nodes}))
        raise CommandError(f"{types}: {LEFT_OUT}", "pass other nodes")
    return found


def _parsed(text: str) -> list[str]:
    """Return the checks of a comma-separated list."""
    known = [each.value for each in DeepHealthCheck]
    checks = [each.strip() for each in text.split(",") if each.strip()]
    unknown = [each for each in checks if each not in known]
    if unknown or not checks:
        problem = f"unknown check {', '.join(unknown)}" if unknown else "no check"
        raise CommandError(f"--checks: {problem}", f"pass {', '.join(known)}")
    return list(dict.fromkeys(checks))


def _log_of(run: HealthCheck) -> Log:
    try:
        return Log(list(run.records()))
    except OF_AWS as error:
        return Log([], explained("health-check", error))


def _unfinished(run: HealthCheck, problem: CommandError) -> Result:
    """Return the faults that are known of a check that HyperPod has not ended."""
    nodes = _node_data(run, run.results_so_far(), MESSAGES)
    text: list[Block] = [_table(nodes), f"the checks continue; see `{run.site.deployment.hpod('status')}`"]
    return Result(_data(run, nodes, [], done=False), text, [error_problem(problem)], str(problem))


def _finished(run: HealthCheck, log: Log) -> Result:
    results = run.results(log)
    nodes = _node_data(run, results, UNREADABLE if log.problem else MESSAGES)
    text: list[Block] = [_table(nodes), *_next_steps(run, results, log)]
    data, failure = _data(run, nodes, log.records, done=True), _failure(run, results, log)
    return Result(data, text, [error_problem(failure)], str(failure)) if failure else Result(data, text)


def _data(run: HealthCheck, nodes: Sequence[Json], records: Sequence[Json], *, done: bool) -> Json:
    return {
        "cluster": run.site.cluster,
        "deep_health_checks": list(run.checks),
        "done": done,
        "nodes": list(nodes),
        "log": list(records),
    }


def _node_data(run: HealthCheck, results: Mapping[str, str], messages: Mapping[str, str]) -> list[Json]:
    """Return the result of each node that the operator named."""
    named = {**results, **{node.instance: "left_out" for node in run.left_out}}
    nodes = [(node, named[node.instance]) for node in (*run.nodes, *run.left_out)]
    return [{**node.names, "result": result, "message": messages.get(result)} for node, result in nodes]


def _table(nodes: Sequence[Json]) -> Table:
    names = [node["name"] or node["host"] or node["instance_id"] for node in nodes]
    results = [": ".join(filter(None, (node["result"].replace("_", " "), node["message"]))) for node in nodes]
    ids = [node["instance_id"] for node in nodes]
    return Table(("NODE", "INSTANCE", "RESULT"), list(zip(names, ids, results, strict=True)))


def _next_steps(run: HealthCheck, results: Mapping[str, str], log: Log) -> Iterator[str]:
    """Yield the errors in the log, and the command for the nodes that failed."""
    if log.errors:
        yield "\n".join(["errors in the log:", *(f"  {line}" for line in log.errors)])
    if failed := [node for node in run.nodes if results[node.instance] == "failed"]:
        yield f"to replace them: {run.site.command('replace', failed)}"


def _failure(run: HealthCheck, results: Mapping[str, str], log: Log) -> CommandError | None:
    bad = sum(result in FAULTS for result in results.values())
    faulty = f"{bad} of {counted(len(run.nodes), 'node')} faulty" if bad else ""
    if log.problem:
        return CommandError(f"{faulty}, and {log.problem.message}", log.problem.fix) if faulty else log.problem
    message = faulty or ("the log has errors" if log.errors else "")
    return CommandError(message) if message else None
