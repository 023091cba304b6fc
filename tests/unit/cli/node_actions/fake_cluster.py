"""A cluster with Slurm whose nodes are replaced, rebooted, deleted and checked while a command looks at it."""

import json
import shlex
from collections import Counter
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from botocore.exceptions import ClientError

from cli.node_actions.patience import Patience
from cli.remote.sessions import SessionError, Target
from cli.remote.shell import Output
from cli.result import Result
from tests.unit.cli.fake_nodes import NODES, FakeNodes, summary
from tests.unit.cli.fake_stack import Json

IDS = [node for _, _, node, _ in NODES]
HEAD, LOGIN, FIRST, SECOND = IDS
HOSTS = {node: f"ip-{address.replace('.', '-')}" for _, _, node, address in NODES}
PRECHECK_FAILED = {"fsx": {"state": "FAIL", "message": "/fsx is not mounted", "fix": "mount it"}}


@dataclass
class SlurmHost:
    """A node in Slurm."""

    state: str = "idle"
    reason: str = "none"
    jobs: list[str] = field(default_factory=list)


class FakeTime:
    """A clock that only sleeps move."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def sleep(self, seconds: float) -> None:
        self.seconds += seconds

    def patience(self, minutes: float = 10) -> Patience:
        return Patience(minutes * 60, self.sleep, lambda: self.seconds)


def _logged(check: str, line: str) -> Json:
    """A line in the log of a deep health check."""
    return {"logStreamName": f"DeepHealthCheckResults/{check}", "timestamp": 0, "ingestionTime": 0, "message": line}


class FakeCluster(FakeNodes):
    """The account; each DescribeCluster is one step of what HyperPod does."""

    def __init__(self) -> None:
        super().__init__()
        self.types: dict[str, str] = {}
        self.requests: list[tuple[str, Json]] = []
        self.refuses: dict[str, str] = {}
        self.failure = ""
        self.stuck = False
        self.expires_after = ""
        self.expires_at_the_end = False
        self.under_check: list[str] = []
        self.operations: list[Json] = []
        self.records: list[str] = []
        self.old_records: list[str] = []
        self.refuses_logs = False
        self.faulty: list[str] = []
        self.new = 0
        self.then: list[Any] = []
        self.shell = FakeSlurmShell(self)
        self.exceptions = SimpleNamespace(ResourceNotFoundException=LookupError)

    def describe_cluster(self, **request: str) -> Json:
        if self.requests and self.requests[-1][0] == self.expires_after:
            raise ClientError({"Error": {"Code": "ExpiredToken", "Message": "expired"}}, "DescribeCluster")
        if self.then and not self.stuck:
            self.then.pop(0)()
        counts = Counter(each["InstanceGroupName"] for each in self.summaries)
        groups = [{"InstanceGroupName": name, "TargetCount": count} for name, count in counts.items()]
        more = {"FailureMessage": self.failure} if self.failure else {}
        return {**super().describe_cluster(), "ClusterStatus": self.cluster_status, "InstanceGroups": groups, **more}

    def paginate(self, **request: Any) -> Any:
        if self.operation == "filter_log_events":
            if not self.requests:
                yield {"events": [_logged("0", line) for line in self.old_records]}
                return
            if self.refuses_logs:
                raise ClientError({"Error": {"Code": "AccessDeniedException", "Message": "no"}}, "FilterLogEvents")
            found = [("0", line) for line in self.old_records] + [("1", line) for line in self.records]
            yield {"events": [_logged(name, line) for name, line in found]}
        else:
            yield {
                "ClusterNodeSummaries": [
                    {**each, "InstanceType": self.types.get(each["InstanceGroupName"], "ml.t3.medium")} for each in self.summaries
                ]
            }

    def set_status(self, node: str, status: str) -> None:
        for each in self.summaries:
            if each["InstanceId"] == node:
                each["InstanceStatus"] = {"Status": status}

    def remove(self, nodes: list[str]) -> None:
        self.summaries = [each for each in self.summaries if each["InstanceId"] not in nodes]
        for node in nodes:
            self.shell.hosts.pop(HOSTS.get(node, ""), None)

    def join(self, group: str) -> None:
        """A new node boots and registers with Slurm."""
        self.new += 1
        new = summary(group, f"i-00000000000000{self.new:03d}", f"10.1.1.{self.new}")
        self.summaries.append(new)
        self.shell.hosts[f"ip-10-1-1-{self.new}"] = SlurmHost()

    def _chosen(self, name: str, request: Json) -> tuple[list[str], list[Json]]:
        self.requests.append((name, request))
        if "all" in self.refuses:
            raise ClientError({"Error": {"Code": "AccessDeniedException", "Message": self.refuses["all"]}}, name)
        failed = [node for node in request["NodeIds"] if node in self.refuses]
        code = "Code" if name == "delete" else "ErrorCode"
        return [node for node in request["NodeIds"] if node not in failed], [
            {"NodeId": node, code: self.refuses[node], "Message": "not now"} for node in failed
        ]

    def batch_replace_cluster_nodes(self, **request: Any) -> Json:
        nodes, failed = self._chosen("replace", request)
        groups = [each["InstanceGroupName"] for each in self.summaries if each["InstanceId"] in nodes]
        self.cluster_status = "Updating"

        def settle() -> None:
            self.cluster_status = "InService"

        def boot() -> None:
            for group in reversed(groups):
                self.join(group)

        self.then = [lambda: self.remove(nodes), boot, settle]
        if self.failure:
            self.then = [lambda: self.remove(nodes), settle]
        return {"Successful": nodes, "Failed": failed}

    def batch_reboot_cluster_nodes(self, **request: Any) -> Json:
        nodes, failed = self._chosen("reboot", request)

        def back() -> None:
            for node in nodes:
                self.set_status(node, "Running")
                self.shell.boots[node] = "second"

        def leave() -> None:
            for node in nodes:
                self.set_status(node, "Pending")

        self.then = [leave, back]
        return {"Successful": nodes, "Failed": failed}

    def batch_delete_cluster_nodes(self, **request: Any) -> Json:
        nodes, failed = self._chosen("delete", request)
        self.then = [lambda: None, lambda: self.remove(nodes)]
        return {"Successful": nodes, "Failed": failed}

    def start_cluster_health_check(self, **request: Any) -> Json:
        self.requests.append(("check", request))
        if "check" in self.refuses:
            raise ClientError({"Error": {"Code": "ConflictException", "Message": self.refuses["check"]}}, "check")
        self.operations = [{"Status": "InProgress"}]

        def begin() -> None:
            for node in self.under_check:
                self.set_status(node, "DeepHealthCheckInProgress")

        def end() -> None:
            for node in self.under_check:
                self.set_status(node, "Failure" if node in self.faulty else "Running")
            self.operations = [{"Status": "Done"}]

        self.then = [begin, end]
        return {}

    def list_cluster_operations(self, **_: Any) -> Json:
        if self.expires_at_the_end and self.operations[0]["Status"] == "Done":
            raise ClientError({"Error": {"Code": "ExpiredToken", "Message": "expired"}}, "ListClusterOperations")
        return {"ClusterOperationSummaries": self.operations}


class FakeSlurmShell:
    """A shell on all nodes: Slurm's commands, hyperpod-precheck and what tells one boot from another."""

    def __init__(self, cluster: FakeCluster) -> None:
        self.cluster = cluster
        self.hosts = {HOSTS[FIRST]: SlurmHost(), HOSTS[SECOND]: SlurmHost()}
        self.boots = dict.fromkeys(IDS, "first")
        self.unhealthy: set[str] = set()
        self.silent = False
        self.not_responding: set[str] = set()
        self.precheck_is_missing = False
        self.rejects = False
        self.silent_after_drain = False
        self.updates: list[str] = []

    def run(self, target: Target, script: str, timeout_s: float = 0) -> Output:
        if self.silent:
            raise SessionError(f"{target.instance}: TargetNotConnected")
        words = shlex.split(script)
        program = words[1] if words[0].startswith("PATH=") else words[0]
        known = {"sinfo": self._sinfo, "squeue": self._squeue, "scontrol": self._scontrol}
        if program in known:
            return known[program](words)
        if program.endswith("hyperpod-precheck"):
            return self._precheck(target)
        if "boot_id" in script:
            return Output(0, self.boots.get(target.instance, "first"))
        return Output(0, self._resource_config())

    def _resource_config(self) -> str:
        groups: dict[str, list[Json]] = {}
        for each in self.cluster.summaries:
            nodes = groups.setdefault(each["InstanceGroupName"], [])
            nodes.append({"InstanceName": f"{each['InstanceGroupName']}-{len(nodes) + 1}", "InstanceId": each["InstanceId"]})
        return json.dumps({"InstanceGroups": [{"Name": name, "Instances": nodes} for name, nodes in groups.items()]})

    def _sinfo(self, _: list[str]) -> Output:
        busy = {host for host, each in self.hosts.items() if each.jobs and each.jobs[0] != "ends"}
        now = {host: "draining" if each.state == "drained" and host in busy else each.state for host, each in self.hosts.items()}
        states = {host: state + "*" * (host in self.not_responding) for host, state in now.items()}
        return Output(0, "\n".join(f"{host}|{states[host]}|root|{each.reason}" for host, each in self.hosts.items()))

    def _squeue(self, words: list[str]) -> Output:
        if self.updates and self.silent_after_drain:
            raise SessionError("TargetNotConnected")
        named = [word.removeprefix("--nodelist=").split(",") for word in words if word.startswith("--nodelist=")]
        hosts = named[0] if named else list(self.hosts)
        lines = [
            f"{each.jobs[0]}|alice|RUNNING|1:00|{host}|train|it"
            for host, each in self.hosts.items()
            if each.jobs and host in hosts
        ]
        for host in hosts:
            if self.hosts[host].jobs[1:] or "ends" in self.hosts[host].jobs:
                self.hosts[host].jobs.pop(0)
        return Output(0, "\n".join(line for line in lines if not line.startswith("ends")))

    def _scontrol(self, words: list[str]) -> Output:
        if self.rejects:
            return Output(1, "slurm_update error: Access denied")
        fields = dict(word.split("=", 1) for word in words[3:])
        for host in fields["NodeName"].split(","):
            state = "drained" if fields["State"] == "DRAIN" else "idle"
            self.hosts[host] = SlurmHost(state, fields.get("Reason", "none"), self.hosts[host].jobs)
        self.updates.append(" ".join(words[3:]))
        return Output(0, "")

    def _precheck(self, target: Target) -> Output:
        if self.precheck_is_missing:
            return Output(127, "bash: hyperpod-precheck: No such file or directory")
        bad = target.instance in self.unhealthy
        results = PRECHECK_FAILED if bad else {}
        return Output(int(bad), json.dumps({"host": "x", "results": results}))


def results(result: Result) -> dict[str, Any]:
    """Return the result of each node."""
    assert result.data is not None
    return {node["name"]: node["result"] for node in result.data["nodes"]}
