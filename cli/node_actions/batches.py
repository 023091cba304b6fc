"""One run of `replace`, `reboot` or `delete`: drain the nodes, call HyperPod and wait, in batches as the API allows."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from cli.aws_errors import explained
from cli.counted import counted
from cli.errors import CommandError, UnreachableError
from cli.node_actions.drained import drain, released, without_jobs
from cli.node_actions.healthy import return_to_service
from cli.node_actions.patience import Patience
from cli.node_actions.returned import boots, deleted, rebooted, replacements
from cli.node_actions.site import Site
from cli.node_directory import Node
from cli.result import Json
from config.instance_group import Role

LIMIT = 25
OF_AWS = (ClientError, BotoCoreError)
"""Errors of AWS, such as credentials that expire during a wait."""
OPERATIONS = {
    "replace": "batch_replace_cluster_nodes",
    "reboot": "batch_reboot_cluster_nodes",
    "delete": "batch_delete_cluster_nodes",
}
GONE = "no longer in the cluster"
CONTROLLERS_PAGE = "docs/operate/slurm.md"


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

    @property
    def is_done(self) -> bool:
        """Return whether the action succeeded."""
        return self.tried and not self.problem

    @property
    def result(self) -> str:
        """Return the result in a word or two."""
        return "not started" if not self.tried else "failed" if self.problem else "ok"

    @property
    def text(self) -> str:
        """Return the problem or the note; empty without one."""
        return self.problem or self.note

    def data(self) -> Json:
        """Return the outcome for JSON."""
        return {**self.node.names, "result": self.result.replace(" ", "_"), "message": self.text or None}


@dataclass(frozen=True)
class Run:
    """One run of `replace`, `reboot` or `delete`."""

    site: Site
    action: str
    options: Options

    def outcomes(self, nodes: Sequence[Node]) -> list[Outcome]:
        """Act batch by batch, and stop after a batch with a problem."""
        outcomes = {node.instance: Outcome(node, tried=False) for node in nodes}
        for batch in _batches(nodes):
            chosen = [outcomes[node.instance] for node in batch]
            for outcome in chosen:
                outcome.tried = True
            try:
                if batch[0].role == Role.CONTROLLER:
                    demand_another(self.site.again(), self.action, batch, force=self.options.force)
                self._act(chosen)
            except (CommandError, *OF_AWS) as error:  # not raised: the result names the nodes that are drained by now
                problem = str(explained(self.action, error) if isinstance(error, OF_AWS) else error)
                for outcome in chosen:
                    outcome.problem = outcome.problem or problem
            if not all(outcome.is_done for outcome in chosen):
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
        listed = self.site.deployment.nodes(self.site.cluster) if self.action == "replace" else []
        known = {node["InstanceId"] for node in listed}
        refused = self._call(nodes)
        accepted = [outcome for outcome in outcomes if outcome.node.instance not in refused]
        if self.action == "delete":
            refused |= deleted(self.site, [outcome.node for outcome in accepted], self.options.patience)
        else:
            self.site.show(f"{self.action}: HyperPod accepted {counted(len(accepted), 'node')}")
            self._wait(accepted, boot_ids, known)
        for outcome in outcomes:
            outcome.problem = outcome.problem or refused.get(outcome.node.instance, "")

    def _call(self, nodes: Sequence[Node]) -> dict[str, str]:
        """Start the action on a batch, and return the problem of each node that HyperPod refuses, by instance id."""
        operation = getattr(self.site.sagemaker, OPERATIONS[self.action])
        try:
            answer: dict[str, Any] = operation(ClusterName=self.site.cluster, NodeIds=[node.instance for node in nodes])
        except ClientError as error:
            # Not raised: the nodes are drained by now, and the result names the command that resumes them.
            reason = error.response["Error"]
            return dict.fromkeys((node.instance for node in nodes), f"refused: {reason['Code']}: {reason['Message']}")
        failed = answer.get("Failed") or []
        return {each["NodeId"]: f"{each.get('ErrorCode') or each.get('Code')}: {each['Message']}" for each in failed}

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


def _batches(nodes: Sequence[Node]) -> Iterator[Sequence[Node]]:
    """Yield the nodes in batches, group by group, and controllers in batches of their own, last: the others need them."""
    ordered = sorted(nodes, key=lambda node: node.group)
    others = [node for node in ordered if node.role != Role.CONTROLLER]
    for part in (others, [node for node in ordered if node.role == Role.CONTROLLER]):
        for start in range(0, len(part), LIMIT):
            yield part[start : start + LIMIT]


def demand_another(site: Site, action: str, nodes: Sequence[Node], *, force: bool) -> None:
    """Raise a CommandError if the nodes include every controller while jobs run, unless ``force``."""
    chosen = {node.instance for node in nodes if node.role == Role.CONTROLLER}
    others = [node for node in site.of_role(Role.CONTROLLER) if node.instance not in chosen]
    if not chosen or force or any(node.status == "Running" for node in others) or site.scheduler is None:
        return
    if jobs := site.scheduler.jobs():
        running = f"{counted(len(jobs), 'job')} running"
        raise CommandError(
            f"cannot {action} the only controller: {running}", f"wait until they end, or pass --force (see {CONTROLLERS_PAGE})"
        )
