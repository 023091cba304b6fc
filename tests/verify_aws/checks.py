"""The seven checks: what AWS must do for a cluster of this project to live."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from botocore.exceptions import BotoCoreError, ClientError

from cli.errors import CommandError
from cli.remote.sessions import SessionError
from cli.remote.shell import Output, Shell
from tests.verify_aws.cdk import Cdk, CdkError
from tests.verify_aws.live_cluster import LiveCluster, labelled
from tests.verify_aws.node_report import NodeReport, in_slurm, report_of
from tests.verify_aws.plan import ADDED, CONTROLLER, FIRST_PARTITION, NEW_PARTITION, WORKERS, Plan, Size

SETTLES_WITHIN_S = 900.0
POLL_S = 1.0
JOB_STARTS_WITHIN_S = 120
RUNNING = "Running"
ACCEPTED = "CreateCluster"
"""The note of the custom resource's step whose call succeeded; of one that was refused, it goes on with the error."""
REQUIRED = {
    CONTROLLER: ("/opt/ml/config/resource_config.json", "/opt/slurm/etc/slurm.conf"),
    WORKERS: ("/opt/ml/config/resource_config.json",),
}


T = TypeVar("T")


class CheckFailedError(Exception):
    """A check failed; the text is the observation."""


ERRORS = (CheckFailedError, CdkError, CommandError, ClientError, BotoCoreError)
"""Expected errors of a check; any other is a bug in this program."""


def text_of(error: Exception) -> str:
    """Return the text of an expected error, or the form of a bug that names its class."""
    return str(error) if isinstance(error, ERRORS) else repr(error)


@dataclass
class Run:
    """A verification under way."""

    plan: Plan
    cdk: Cdk
    cluster: LiveCluster
    shell: Shell
    end: float
    say: Callable[[str], None]
    failed_deployment: str = ""
    versions: dict[str, str] = field(default_factory=dict)

    def deploy(self, size: Size, *, first: bool = False) -> None:
        """Deploy the cluster with this many workers; raise CheckFailedError with CloudFormation's reasons."""
        self.plan.write(self.cdk.folder, size)
        try:
            self.cdk.deploy(first=first, timeout_s=self.seconds_left)
        except CdkError as error:
            raise CheckFailedError("\n".join([str(error), *self.cluster.failures()])) from error

    @property
    def seconds_left(self) -> float:
        """Return the time that is left for the checks."""
        return max(self.end - time.monotonic(), 0.0)

    def on_controller(self, *words: str, timeout_s: float = 120.0) -> Output:
        """Run one of Slurm's commands on the controller."""
        [controller] = self.cluster.nodes(CONTROLLER)
        return self.shell.run(self.cluster.target(controller), in_slurm(*words), timeout_s)

    def until_idle(self, partition: str, count: int) -> list[str]:
        """Return the hosts of a partition once it has exactly this many nodes and all are idle."""

        def idle() -> tuple[list[str] | None, str]:
            output = self.on_controller("sinfo", "--noheader", "--Node", f"--partition={partition}", "--format=%N %T")
            rows = [line.split() for line in output.text.splitlines() if len(line.split()) == 2]
            is_met = output.status == 0 and len(rows) == count and all(state == "idle" for _, state in rows)
            return [host for host, _ in rows] if is_met else None, f"sinfo printed: {output.text.strip() or 'nothing'}"

        return self._until(f"{count} idle nodes in partition {partition}", idle)

    def until_ended(self, *words: str) -> None:
        """Wait until a job ends well.

        HyperPod's agent rewrites slurm.conf when nodes join, and until it is complete again slurmctld rejects jobs for seconds.
        """

        def ended() -> tuple[bool | None, str]:
            output = self.on_controller(*words, timeout_s=JOB_STARTS_WITHIN_S + 60.0)
            return output.status == 0 or None, f"it ended with status {output.status}: {output.text.strip()}"

        self._until(f"{words[0]} to run a job", ended)

    def until_empty(self, group: str) -> None:
        """Wait until ListClusterNodes has no node of a group."""

        def empty() -> tuple[bool | None, str]:
            nodes = self.cluster.nodes(group)
            return not nodes or None, ", ".join(f"{node['InstanceId']} {node['InstanceStatus']['Status']}" for node in nodes)

        self._until(f"no node of group {group}", empty)

    def _until(self, expected: str, look: Callable[[], tuple[T | None, str]]) -> T:
        """Return what ``look`` finds, also after lost sessions; raise CheckFailedError with the last observation."""
        end = time.monotonic() + min(SETTLES_WITHIN_S, self.seconds_left)
        while True:
            try:
                found, seen = look()
            except SessionError as error:
                found, seen = None, str(error)
            if found is not None:
                return found
            if time.monotonic() > end:
                raise CheckFailedError(f"expected {expected}; {seen}")
            time.sleep(POLL_S)

    def save_nodes(self, checkpoint: str, *groups: str) -> list[NodeReport]:
        """Save the reports of the groups' nodes and return them."""
        found = []
        for label, node in labelled(self.cluster.nodes()):
            if node["InstanceGroupName"] in groups and node["InstanceStatus"]["Status"] == RUNNING:
                report = report_of(self.shell, self.cluster.target(node))
                for path, text in report.entries():
                    self.cluster.evidence.text(f"nodes/{checkpoint}/{label}/{path}", text)
                found.append(report)
        return found

    def save_after_failure(self, checkpoint: str) -> None:
        """Save what still answers; a failed check is where it matters most."""
        try:
            if self.cluster.described():
                self.cluster.save_answers(checkpoint)
                self.save_nodes(checkpoint, CONTROLLER, WORKERS, ADDED)
        except Exception as error:  # noqa: BLE001  the check has failed; the next ones still run
            self.say(f"{checkpoint}: not everything is saved: {text_of(error)}")


def request_accepted(run: Run) -> str:
    """Deploy; HyperPod must accept CreateCluster, even if the cluster fails later."""
    try:
        run.deploy(Size(1), first=True)
    except CheckFailedError as error:
        run.failed_deployment = str(error)
    notes = [str(step["note"]) for step in run.cluster.steps()]
    described = run.cluster.described()
    if described is None and ACCEPTED not in notes:
        raise CheckFailedError(run.failed_deployment or f"the custom resource's steps: {'; '.join(notes) or 'none'}")
    return (
        f"cluster {described['ClusterName']} is {described['ClusterStatus']}"
        if described
        else "accepted; the cluster no longer exists"
    )


def nodes_in_service(run: Run) -> str:
    """Require a cluster InService, idle workers in Slurm, and the files that HyperPod's agent writes."""
    if run.failed_deployment:
        raise CheckFailedError(run.failed_deployment)
    status, nodes = run.cluster.cluster()["ClusterStatus"], run.cluster.nodes()
    states = [f"{node['InstanceGroupName']} {node['InstanceStatus']['Status']}" for node in nodes]
    if status != "InService" or [node["InstanceStatus"]["Status"] for node in nodes] != [RUNNING] * 2:
        raise CheckFailedError(f"cluster {status}, nodes: {', '.join(states)}")
    run.until_idle(FIRST_PARTITION, 1)
    for group, files in REQUIRED.items():
        for report in run.save_nodes("created", group):
            if missing := [path for path in files if path not in report.files]:
                raise CheckFailedError(f"a node of {group} lacks {', '.join(missing)}; it has {', '.join(report.files)}")
            if opened := report.open_metadata():
                raise CheckFailedError(f"users of {group} are not refused at {', '.join(opened)}")
            run.versions["slurm"] = report.commands["slurm-version"].strip()
            run.versions["image"] = _image(report)
    return f"cluster {status}, nodes: {', '.join(states)}, {run.versions['slurm']}"


def no_needless_update(run: Run) -> str:
    """Save the answers; the custom resource must not update what it just created."""
    run.cluster.save_answers("created")
    run.cluster.save_logs()
    notes = [str(step["note"]) for step in run.cluster.steps() if str(step["request"]).startswith("Create ")]
    if not notes:
        raise CheckFailedError("the custom resource's log has no step of the creation")
    if updates := [note for note in notes if note.startswith("UpdateCluster")]:
        raise CheckFailedError(f"the custom resource updated its new cluster: {'; '.join(updates)}")
    return "DescribeCluster shows what CreateCluster requested"


def one_more_worker(run: Run) -> str:
    """Change the count from 1 to 2; both workers must become idle in Slurm."""
    run.deploy(Size(2))
    hosts = run.until_idle(FIRST_PARTITION, 2)
    _save(run, "scaled", CONTROLLER, WORKERS)
    return f"idle: {', '.join(hosts)}"


def new_group(run: Run) -> str:
    """Add a group with a partition of its own; jobs must run in that partition."""
    run.deploy(Size(2, 1))
    hosts = run.until_idle(NEW_PARTITION, 1)
    partition = f"--partition={NEW_PARTITION}"
    for words in (
        ("srun", partition, f"--immediate={JOB_STARTS_WITHIN_S}", "hostname"),
        ("sbatch", partition, "--wait", "--output=/dev/null", "--wrap=hostname"),
    ):
        run.until_ended(*words)
    _save(run, "group", CONTROLLER, ADDED)
    return f"srun and sbatch ran on {', '.join(hosts)}"


def zero_and_back(run: Run) -> str:
    """Change the count to 0 and back to 1."""
    run.deploy(Size(0, 1))
    run.until_empty(WORKERS)
    _save(run, "zero", CONTROLLER)
    run.deploy(Size(1, 1))
    hosts = run.until_idle(FIRST_PARTITION, 1)
    _save(run, "back", CONTROLLER)
    return f"idle again: {', '.join(hosts)}"


def _save(run: Run, checkpoint: str, *groups: str) -> None:
    run.cluster.save_answers(checkpoint)
    run.save_nodes(checkpoint, *groups)


def _image(report: NodeReport) -> str:
    lines = report.files.get("/etc/os-release", "").splitlines()
    return next((line.partition("=")[2].strip('"') for line in lines if line.startswith("PRETTY_NAME=")), "unknown")


Check = Callable[[Run], str]
CHECKS: Sequence[tuple[str, Check]] = (
    ("CreateCluster is accepted", request_accepted),
    ("nodes are InService and idle in Slurm; their files are saved", nodes_in_service),
    ("DescribeCluster echoes the request: no update follows the creation", no_needless_update),
    ("instance_count 1 -> 2: both nodes are idle in Slurm", one_more_worker),
    ("a new group gets its partition, and jobs run there", new_group),
    ("instance_count 2 -> 0 -> 1", zero_and_back),
)
DESTROYED = "cdk destroy removes everything"
