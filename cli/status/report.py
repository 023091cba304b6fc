"""The report on a cluster that exists."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from cli.aws_errors import unless_absent
from cli.deployment import Deployment, Stack
from cli.errors import CommandError
from cli.events.aws_sources import raised
from cli.events.event import Event, event_table
from cli.events.timeline import timeline
from cli.node_reports import BUNDLE, FRESH, Report, age, controller_state, json_object, latest_states, reporters, reports
from cli.parts import Parts
from cli.result import Block, Json, Result, warning_problem
from cli.status.eks import EksState
from cli.status.file_systems import file_system_blocks, file_systems
from cli.status.groups import cluster_data, groups_table
from cli.status.kubernetes import EksNodeStatus, KubernetesState, eks_nodes_table
from cli.status.nodes import SHORT, NodeStatus, nodes_table
from cli.status.quotas import Governance
from config.operation_names import bundle_parameter

EVENTS, SINCE = 5, timedelta(hours=3)
LONGEST_RETRY = timedelta(hours=2)
"""Agents repeat a failed attempt after at most one hour, plus the time of the attempt."""


class ClusterReport:
    """The report on a cluster that exists."""

    def __init__(self, deployment: Deployment, stacks: list[Stack], now: datetime) -> None:
        self._deployment, self._now = deployment, now
        self._outputs = {key: value for stack in stacks for key, value in stack.outputs.items()}
        self._parts = Parts("status")
        self._cluster = deployment.cluster()
        self._states = self._parts.get("agents", lambda: {} if deployment.is_eks else latest_states(deployment, now)) or {}
        self._bundle = self._parts.get("bundle", lambda: desired_bundle(deployment)) or ""
        self._summaries = deployment.nodes(self._cluster["ClusterName"])
        roles = deployment.config.role_names()
        self._roles = {each["InstanceId"]: roles.get(each["InstanceGroupName"], "") for each in self._summaries}
        self._slurm = controller_state(self._states, self._roles)
        self._kubernetes = KubernetesState.read(deployment) if deployment.is_eks else None
        self._nodes = [] if self._kubernetes else self._node_statuses()
        self._eks_nodes = [EksNodeStatus(each, self._kubernetes) for each in self._summaries] if self._kubernetes else []
        self._all_nodes = self._nodes or self._eks_nodes
        self._eks = EksState.read(self._parts, deployment) if self._kubernetes else None
        self._governance = Governance.read(self._parts, deployment, str(self._cluster.get("ClusterArn")))

    def result(self, data: Json, blocks: list[Block], *, show_all: bool) -> Result:
        """Return the whole report; ``data`` and ``blocks`` already describe the stacks."""
        systems = self._parts.get("file systems", self._file_systems) or []
        alarms = self._parts.get("alarms", lambda: [_alarm(each) for each in raised(self._deployment)]) or []
        name = self._deployment.argument
        since, is_reachable = self._now - SINCE, not (self._kubernetes and self._kubernetes.problem)
        events, missing = timeline(self._deployment, since=since, cluster=self._cluster, is_reachable=is_reachable)
        last = events[-EVENTS:]
        found = {
            **data,
            **cluster_data(self._cluster, self._deployment.config),
            "nodes": [node.data() for node in self._all_nodes],
            "bundle_sha256": self._bundle or None,
            "slurm": self._slurm_data(),
            "kubernetes": self._kubernetes.data() if self._kubernetes else None,
            "eks": self._eks.data() if self._eks else None,
            **self._governance.data(),
            "file_systems": systems,
            "alarms": alarms,
            "events": [event.data(name) for event in last],
        }
        failure = f"\n{found['message']}" if found["message"] else ""
        text = [
            f"cluster {found['cluster']} is {found['status']}{failure}",
            *blocks,
            groups_table(found["groups"], self._all_nodes, self._deployment.config),
            *nodes_table(self._nodes, self._now, show_all=show_all),
            *eks_nodes_table(self._eks_nodes, show_all=show_all),
            *self._summary(),
            *self._governance.blocks(),
            *file_system_blocks(systems),
            *_alarm_blocks(alarms),
            *_event_blocks(last, self._deployment),
            *(["\n".join(map(str, every))] if (every := [*self._parts.missing, *missing]) else []),
        ]
        return Result(found, text, [*self._parts.problems, *map(warning_problem, [*missing, *self._troubles()])])

    def _troubles(self) -> list[CommandError]:
        unknown = self._kubernetes.problems if self._kubernetes else ()
        return [*unknown, *(self._eks.troubles() if self._eks else ()), *self._governance.troubles()]

    def _node_statuses(self) -> list[NodeStatus]:
        low = self._deployment.config.monitoring.free_disk_percent
        found = []
        for each in self._summaries:
            role, report = self._roles[each["InstanceId"]], self._states.get(each["InstanceId"])
            found.append(NodeStatus(each, role, report, self._slurm, self._bundle, low_disk_percent=low))
        return self._with_attempts(found)

    def _with_attempts(self, nodes: list[NodeStatus]) -> list[NodeStatus]:
        """Add the latest attempt to apply a bundle, if any node has an older one."""
        if not any(node.has_older_bundle for node in nodes):
            return nodes
        attempts = self._parts.get("attempts to apply scripts", self._attempts) or {}
        return [replace(node, attempt=attempts.get(node.instance)) for node in nodes]

    def _attempts(self) -> dict[str, Report]:
        since = self._now - LONGEST_RETRY
        return {report.instance: report for report in reports(self._deployment, record=BUNDLE, since=since)}

    def _file_systems(self) -> list[Json]:
        return file_systems(self._deployment, self._outputs, self._states.values(), self._now)

    def _slurm_data(self) -> Json | None:
        if self._slurm is None:
            return None
        counts = self._slurm.slurm or {}
        known = {name: counts.get(name) for name in ("slurmctld", "slurmdbd", "idle", "allocated", "drained", "down", "joining")}
        return {**known, "node_count": counts.get("nodes"), "reported": self._slurm.time.isoformat()}

    def _summary(self) -> list[str]:
        """Return a line on each of the scheduler, the images, the bundle and the agents."""
        if self._kubernetes and self._eks:
            return ["\n".join(filter(None, (*self._eks.lines(), *self._kubernetes.lines(), self._image_line())))]
        return ["\n".join(filter(None, (self._slurm_line(), self._image_line(), self._bundle_line(), self._agent_line())))]

    def _slurm_line(self) -> str:
        if self._slurm is None:
            return "Slurm: unknown; no controller has reported in 15 minutes"
        counts = self._slurm.slurm or {}
        late = f", {age(self._slurm.time, self._now)} ago" if self._now - self._slurm.time > FRESH else ""
        down = [name for name in ("slurmctld", "slurmdbd") if counts.get(name) == 0]
        names = ", ".join(f"{counts.get(name) or 0} {name}" for name in ("idle", "allocated", "drained", "down"))
        names += f", {counts['joining']} joining" if counts.get("joining") else ""
        nodes = "states of nodes unknown" if self._slurm.slurm_problems is None else f"{counts.get('nodes') or 0} nodes: {names}"
        services = f"; down: {', '.join(down)}" if down else ""
        return f"Slurm: {nodes}{services}{late}"

    def _image_line(self) -> str:
        releases = {
            f"{node.summary['CurrentImageReleaseVersion']} ({node.summary.get('ImageVersionStatus') or 'unknown'})"
            for node in self._all_nodes
            if node.summary.get("CurrentImageReleaseVersion")
        }
        return f"image: {', '.join(sorted(releases))}" if releases else ""

    def _bundle_line(self) -> str:
        if not self._bundle:
            return ""
        older = sum(node.has_older_bundle for node in self._nodes)
        some = f"; {older} of {len(self._nodes)} nodes have not applied it" if older else ""
        return f"script bundle: {self._bundle[:SHORT]}{some}"

    def _agent_line(self) -> str:
        if not self._deployment.config.lifecycle.has_agent:
            return "agents: none, by `lifecycle.follow` or `lifecycle.source` in the cluster file"
        without = [node for node in self._nodes if node.report is None and node.status == "Running"]
        if not without:
            return ""
        known = self._parts.get("silent agents", lambda: reporters(self._deployment)) or set()
        silent, total = [node for node in without if node.instance in known], len(self._nodes)
        lines = []
        if never := len(without) - len(silent):
            lines.append(f"{never} of {total} nodes have no agent; `{self._deployment.hpod('rerun-scripts')}` installs it")
        if silent:
            lines.append(f"{len(silent)} of {total} agents stopped reporting: run `journalctl -u hyperpod-follow` on the node")
        return "\n".join(lines)


def desired_bundle(deployment: Deployment) -> str:
    """Return the hash of the bundle that running nodes follow; empty if the deployment sets none."""
    if deployment.is_eks:
        return ""
    name = bundle_parameter(deployment.config.name)
    answer = unless_absent(lambda: deployment.client("ssm").get_parameter(Name=name))
    return str(json_object(answer["Parameter"]["Value"]).get("sha256") or "") if answer else ""


def _alarm(alarm: Mapping[str, Any]) -> Json:
    return {
        "name": alarm["AlarmName"],
        "state": alarm["StateValue"],
        "description": alarm.get("AlarmDescription"),
        "message": alarm.get("StateReason"),
        "since": alarm["StateUpdatedTimestamp"].isoformat(),
    }


def _alarm_blocks(alarms: list[Json]) -> list[Block]:
    lines = [f"{each['state']} {each['name']}: {each['description'] or each['message'] or ''}" for each in alarms]
    return ["\n".join(lines)] if lines else []


def _event_blocks(events: list[Event], deployment: Deployment) -> list[Block]:
    return [event_table(events), f"`{deployment.hpod('events')}` shows more, with what to do"] if events else []
