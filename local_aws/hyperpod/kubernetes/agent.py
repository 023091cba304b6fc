"""The agent of a cluster: it lets nodes join the API server, and keeps labels, taints and Node objects as HyperPod wants them.

One thread per cluster compares the desired state with the API server's, in real time. It calls the API server without the
clusters' lock. For a node without a kubelet it does what the kubelet would: register, renew the lease, remove terminated pods.
"""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from local_aws.clock import clock
from local_aws.durations import duration
from local_aws.hyperpod.kubernetes import dependencies, node_objects
from local_aws.hyperpod.kubernetes.api import Api, ApiError, find_api, missing_entries
from local_aws.hyperpod.kubernetes.kubelet import Kubelet
from local_aws.hyperpod.kubernetes.members import DEEP_CHECK, HEALTH, PENDING, Member, members_of
from local_aws.hyperpod.model import Cluster, clusters, lock
from local_aws.hyperpod.service_behaviour import reboot_clears_cordon
from local_aws.json_service import Json

_log = logging.getLogger(__name__)
_PAUSE_S = 0.5
_LATE_PODS_S = 5.0
_MOST_FAILURES = 5  # after the cluster is gone
Joined = Callable[[str], None]
"""Gets why the node did not join; an empty text if it did."""
Requested = Callable[[Cluster, str, str], bool]
"""Gets a node whose label asks for `Replacement` or `Reboot`, and returns whether it begins."""


@dataclass(frozen=True)
class _Joining:
    """A node that joins; ``by`` is the moment on AWS's clock at which HyperPod gives up."""

    joined: Joined
    has_kubelet: bool
    by: float


@dataclass
class Agent:
    """The agent of a cluster."""

    cluster: Cluster
    requested: Requested
    _joining: dict[str, _Joining] = field(default_factory=dict)
    _kubelets: dict[str, Kubelet] = field(default_factory=dict)  # by node name, of nodes without a machine
    _known: dict[str, Member] = field(default_factory=dict)  # by name, as the API server was told last
    _removed: dict[str, float] = field(default_factory=dict)  # names, with the end of the search for late pods
    _problem: str = ""  # the last one, so that it is logged once
    _missing: dict[tuple[str, bool], list[str]] = field(default_factory=dict)
    _changed: threading.Event = field(default_factory=threading.Event)

    def join(self, node_id: str, joined: Joined, *, has_kubelet: bool) -> None:
        """Let a node join, and call ``joined``."""
        self._joining[node_id] = _Joining(joined, has_kubelet, clock.seconds() + duration("hyperpod.node.join"))
        self._changed.set()

    def wake(self) -> None:
        """Look at the cluster at once."""
        self._changed.set()

    def run(self) -> None:
        """Work until the cluster is gone."""
        failures = 0
        while True:
            self._changed.clear()
            with lock:
                is_left = clusters(self.cluster.account, self.cluster.region).get(self.cluster.name) is self.cluster
                members = {member.id: member for member in members_of(self.cluster)} if is_left else {}
            try:
                self._turn(members)
                self._problem = ""
            except ApiError as error:
                self._note(str(error))
                failures += not is_left
            except Exception:  # noqa: BLE001  otherwise nodes would keep their present state for ever
                _log.exception("HyperPod cluster %s: a turn of its agent in Kubernetes failed", self.cluster.name)
            if not is_left and (not (self._known or self._removed) or failures > _MOST_FAILURES):
                return
            self._changed.wait(_PAUSE_S)

    def _note(self, problem: str) -> None:
        """Log a new problem, and fail the nodes that wait for too long."""
        if problem != self._problem:
            _log.warning("HyperPod cluster %s: %s", self.cluster.name, problem)
        self._problem = problem
        for node_id, joining in list(self._joining.items()):
            if clock.seconds() > joining.by:
                self._answer(node_id, joining, problem)

    def _turn(self, members: dict[str, Member]) -> None:
        api = find_api(self.cluster.eks_arn)
        if api is None:
            self._refuse_all(f"the EKS cluster {self.cluster.eks_arn} has no API server")
            self._known.clear()
            self._removed.clear()
            return
        self._missing.clear()
        for node_id, joining in list(self._joining.items()):
            if node_id in members:
                self._join(api, members[node_id], joining)
            else:
                del self._joining[node_id]
        self._remove(api, members)
        if self._known:
            self._keep(api, members)

    def _refuse_all(self, why: str) -> None:
        for node_id, joining in list(self._joining.items()):
            self._answer(node_id, joining, why)

    def _answer(self, node_id: str, joining: _Joining, why: str) -> None:
        del self._joining[node_id]
        joining.joined(why)

    def _join(self, api: Api, member: Member, joining: _Joining) -> None:
        """Let a node join if it may: register it, or wait until its kubelet has."""
        if missing := self._missing_for(api, member):
            why = f"the EKS cluster {self.cluster.eks_arn} lacks what HyperPod needs: {', '.join(missing)}"
            self._answer(member.id, joining, why)
            return
        if not joining.has_kubelet:
            kubelet = self._kubelets.setdefault(member.name, Kubelet(api.as_node(member.name)))
            kubelet.register(member)
        found = api.find(f"{node_objects.NODES}/{member.name}")
        if found and (node_objects.is_ready(found) or not joining.has_kubelet):
            self._known.setdefault(member.name, member)
            self._show(api, member, found)
            self._answer(member.id, joining, "")
        elif clock.seconds() > joining.by:
            self._answer(member.id, joining, f"its node {member.name} was not Ready in time in {self.cluster.eks_arn}")

    def _missing_for(self, api: Api, member: Member) -> list[str]:
        """Return what keeps a node from joining, asked once a turn."""
        key = (member.role, member.has_deep_checks)
        if key not in self._missing:
            found = missing_entries(self.cluster.eks_arn, member.role)
            self._missing[key] = [*found, *dependencies.missing(api, with_deep_checks=member.has_deep_checks)]
        return self._missing[key]

    def _remove(self, api: Api, members: dict[str, Member]) -> None:
        """Remove the nodes that HyperPod has removed, with their pods."""
        names = {member.name for member in members.values()}
        for name in [name for name in self._known if name not in names]:
            api.delete(f"{node_objects.NODES}/{name}")
            api.delete(f"{node_objects.LEASES}/{name}")
            self._kubelets.pop(name, None)
            del self._known[name]
            self._removed[name] = time.monotonic() + _LATE_PODS_S
        # As Kubernetes' pod garbage collector does a minute later. A DaemonSet's controller may add a pod to a removed node.
        for pod in api.list("/api/v1/pods") if self._removed else ():
            if pod["spec"].get("nodeName") in self._removed:
                api.delete(_path(pod), at_once=True)
        self._removed = {name: until for name, until in self._removed.items() if until > time.monotonic()}

    def _keep(self, api: Api, members: dict[str, Member]) -> None:
        """Update the nodes, and notice what people ask for with labels."""
        found = {node["metadata"]["name"]: node for node in api.as_service().list(node_objects.NODES)}
        ours = {member.name: member for member in members.values() if member.name in self._known}
        pods = api.list("/api/v1/pods") if self._kubelets else []
        for name, member in ours.items():
            kubelet = self._kubelets.get(name)
            if kubelet:
                kubelet.turn(member, found.get(name), [pod for pod in pods if pod["spec"].get("nodeName") == name])
            if name in found and not self._notice(api, member, found[name]):
                self._show(api, member, found[name])

    def _notice(self, api: Api, member: Member, found: Json) -> bool:
        """Carry out what people ask for with a label; return whether HyperPod begins it."""
        label, known = found["metadata"].get("labels", {}).get(HEALTH, ""), self._known[member.name]
        is_stale = label == known.health and not member.recovery  # a reboot is done, and the label is still to be changed
        if label not in PENDING or member.status != "Running" or is_stale:
            return False
        if not self.requested(self.cluster, member.id, PENDING[label]):
            return False
        self._report(api, known, replace(member, recovery=PENDING[label]))
        return True

    def _show(self, api: Api, member: Member, found: Json) -> None:
        """Set labels and taints when HyperPod's state of the node has changed; what people set stays until then."""
        before = self._known[member.name]
        was_shown = found["metadata"].get("labels", {}).get(f"{HEALTH}") is not None
        if was_shown and (before.all_labels, before.all_taints) == (member.all_labels, member.all_taints):
            self._known[member.name] = member
            return
        labels: dict[str, str | None] = dict.fromkeys(set(before.all_labels) - set(member.all_labels))
        old = {(taint["key"], taint["effect"]) for taint in before.all_taints}
        new = {(taint["key"], taint["effect"]) for taint in member.all_taints}
        others = [taint for taint in found["spec"].get("taints") or () if (taint["key"], taint["effect"]) not in old | new]
        body = {
            "metadata": {"labels": {**labels, **member.all_labels}, "resourceVersion": found["metadata"]["resourceVersion"]},
            "spec": {"taints": [*others, *member.all_taints]},
        }
        if before.recovery == "Reboot" and not member.recovery and reboot_clears_cordon():
            body["spec"]["unschedulable"] = None
        try:
            api.as_service().patch(f"{node_objects.NODES}/{member.name}", body)
        except ApiError as error:
            if error.status != 409:
                raise
            self._changed.set()  # another client changed the node: look again
            return
        self._report(api, before, member)

    def _report(self, api: Api, before: Member, after: Member) -> None:
        """Note what the API server was told of a node, and write events of what changed."""
        self._known[after.name] = after
        for reason, message in _events(before, after):
            api.as_service().create("/api/v1/namespaces/default/events", node_objects.event(after, reason, message))


def _events(before: Member, after: Member) -> list[tuple[str, str]]:
    """Return reason and message of what changed."""
    found = []
    if after.deep_check != before.deep_check:
        found.append((f"DeepHealthCheck{after.deep_check}", f"{DEEP_CHECK} is {after.deep_check}"))
    if after.recovery and after.recovery != before.recovery:
        found.append((f"{after.recovery}Requested", f"{HEALTH} is {after.health}"))
    return found


def _path(pod: Json) -> str:
    return f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"


@dataclass
class Agents:
    """The agents of all clusters; ``requested`` is called for labels that people set."""

    requested: Requested = lambda *_: False
    _running: dict[str, Agent] = field(default_factory=dict)

    def of(self, cluster: Cluster) -> Agent:
        """Return the agent of a cluster, running."""
        if cluster.arn not in self._running:
            agent = Agent(cluster, self.requested)
            self._running[cluster.arn] = agent
            threading.Thread(target=self._run, args=(agent,), name=f"local_aws.hyperpod.{cluster.name}", daemon=True).start()
        return self._running[cluster.arn]

    def _run(self, agent: Agent) -> None:
        agent.run()
        with lock:
            self._running.pop(agent.cluster.arn, None)

    def wake(self, cluster: Cluster) -> None:
        """Let a cluster's agent look at it at once."""
        if agent := self._running.get(cluster.arn):
            agent.wake()


agents = Agents()
