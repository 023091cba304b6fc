"""The nodes of a cluster: machines on a hub, which lives while there are any, and files that follow the cluster's changes."""

import logging
import os
import threading
from collections.abc import Callable
from pathlib import Path

from local_aws.builds.errors import HostError
from local_aws.clock import clock
from local_aws.hyperpod.model import Cluster
from local_aws.hyperpod.model import lock as cluster_lock
from local_aws.nodes.agent import files, kubelet, slurm_conf, slurmctld
from local_aws.nodes.agent.behaviour import Behaviour
from local_aws.nodes.agent.machine import Machine
from local_aws.nodes.agent.pods_link import PodsLink
from local_aws.nodes.agent.view import ClusterView, hostname, specs
from local_aws.nodes.hub import Hub
from local_aws.nodes.specs import NodeFile, NodeSpec, Vpc
from local_aws.schedule import schedule

MakeHub = Callable[[Path, Vpc], Hub]
_LOOK_S = 60.0  # interval, in AWS's seconds, to check whether a node is in service
_log = logging.getLogger(__name__)


class ClusterNodes:
    """The nodes of a cluster. All methods are thread-safe."""

    def __init__(self, folder: Path, make_hub: MakeHub, behaviour: Behaviour | None = None) -> None:
        self.folder, self.munge_key = folder, os.urandom(128)
        self.behaviour = behaviour or Behaviour()
        self._listed: set[str] | None = (
            None  # the addresses of nodes with a line in slurm.conf; None until the first controller boots
        )
        self._make_hub = make_hub
        self._hub: Hub | None = None
        self._link: PodsLink | None = None
        self._machines: dict[str, Machine] = {}
        self._going: dict[str, Machine] = {}
        self._lock = threading.Lock()  # protects the two; held briefly
        self._hub_lock = threading.Lock()  # held while a hub starts or ends
        self._refreshing = threading.Lock()

    def start(self, machine: Machine) -> None:
        """Start a machine, in place of one with the same id."""
        self.stop(machine.id)
        with self._lock:  # the thread that stops it waits for its starter, which must have begun by then
            self._machines[machine.id] = machine
            machine.starter.start()

    def boot(self, machine: Machine, spec: NodeSpec, vpc: Vpc, view: ClusterView) -> Hub:
        """Boot a machine with ``view`` in its files, and return the hub; first stop another machine with its id."""
        for before in list(self._going.values()):
            if before.id == machine.id or not before.launch.node.address:  # this one or another one took over its address
                before.gone.wait()
        hub = self._living_hub(machine, vpc)
        hub.boot(spec)
        with self._lock:
            machine.view = view
        _demand(machine)
        return hub

    def view(self, cluster: Cluster) -> ClusterView:
        """Return the cluster's current view; ``listed`` has the nodes whose lines the agent has written."""
        late = self.behaviour.node_lines == "after_scripts"
        with self._lock:
            listed = set(self._listed or ()) if late else None
        return ClusterView.of(cluster, self.behaviour, listed)

    def first_view(self, machine: Machine) -> ClusterView:
        """Return the view for a machine that boots. The cluster's first slurm.conf lists all current nodes."""
        cluster = machine.launch.cluster
        if machine.is_controller:
            machine.has_placeholder = self.behaviour.first_slurm_conf == "placeholder"
            with cluster_lock:
                nodes = {node.address for node in cluster.nodes}
            with self._lock:
                self._listed = nodes if self._listed is None else self._listed
        return self.view(cluster)

    def add_line(self, machine: Machine) -> None:
        """Add the line of a node whose scripts succeeded, minutes after the node is in service."""
        if self.behaviour.node_lines == "after_scripts" and machine.layout:
            schedule.after(self.behaviour.node_lines_after_s, lambda: self._add_line(machine))

    def name_controllers(self, machine: Machine) -> None:
        """Replace a placeholder with the full slurm.conf after a while."""
        if machine.has_placeholder:
            schedule.after(self.behaviour.placeholder_s, lambda: _in_thread(lambda: self._name_controllers(machine)))

    def refresh(self) -> None:
        """Rewrite the files on all machines for which the cluster has changed, on controllers first."""
        with self._refreshing:
            with self._lock:
                hub, machines = self._hub, [machine for machine in self._machines.values() if machine.view]
            if hub is None or not machines:
                return
            cluster = machines[0].launch.cluster
            view = self.view(cluster)
            with self._lock:
                self._listed = None if self._listed is None else self._listed & {member.address for member in view.members}
            if of_request := slurm_conf.parameters_of(specs(cluster)):
                for machine in machines:
                    machine.layout = slurm_conf.SlurmLayout.read(of_request)
            controllers = [machine for machine in machines if machine.is_controller and machine.view != view]
            keep = self.behaviour.worker_copies == "lagging"
            others = [each for each in machines if not each.is_controller and _is_stale(each, view, keep_removed=keep)]
            _give_up(hub, controllers, view)
            changed = [machine for machine in controllers if self._rewrite(hub, machine, view)]
            next((machine for machine in changed if slurmctld.reconfigure(hub, machine)), None)
            for machine in others:
                self._rewrite(hub, machine, view)

    def stop(self, node_id: str) -> None:
        """Start to stop a machine, if it exists; update the others' files."""
        with self._lock:
            machine = self._machines.pop(node_id, None)
            if machine is None:
                return
            machine.is_wanted = False
            self._going[node_id] = machine
        threading.Thread(target=self._end, args=(machine,), name=f"end-{node_id}", daemon=True).start()

    def reboot(self, machine: Machine) -> None:
        """Reboot a machine and wait until it is running."""
        with self._lock:
            hub = self._hub
        if hub is None or machine.view is None:
            raise HostError(f"node {machine.id} has not booted yet")
        hub.reboot(machine.id)
        self.refresh()

    def reserve(self, name: str, machines: list[Machine]) -> set[str]:
        """Reserve the machines in Slurm, and return the ids of those with jobs; none if no slurmctld does it."""
        hosts = {hostname(machine.launch.node.address): machine.id for machine in machines}
        for hub, controller in self._controllers():
            busy = slurmctld.reserve(hub, controller, name, list(hosts))
            if busy is not None:
                return {hosts[host] for host in busy}
        return set()

    def release(self, name: str) -> None:
        """Delete a reservation in Slurm."""
        next((None for hub, controller in self._controllers() if slurmctld.release(hub, controller, name)), None)

    def _controllers(self) -> list[tuple[Hub, Machine]]:
        with self._lock:
            hub, machines = self._hub, list(self._machines.values())
        return [(hub, machine) for machine in machines if machine.is_controller] if hub else []

    def find(self, node_id: str) -> Machine | None:
        """Return the machine with this id, or None."""
        with self._lock:
            return self._machines.get(node_id)

    def machines(self) -> list[Machine]:
        """Return all machines that were started and not stopped."""
        with self._lock:
            return list(self._machines.values())

    def end(self) -> None:
        """Stop all machines and the hub, and wait for their end."""
        for machine in self.machines():
            self.stop(machine.id)
        with self._hub_lock:
            self._end_hub()
        for machine in list(self._going.values()):
            machine.gone.wait()

    def _add_line(self, machine: Machine) -> None:
        if not machine.is_wanted:
            return
        if machine.launch.node.status != "Running":  # deep health checks continue
            schedule.after(_LOOK_S, lambda: self._add_line(machine))
            return
        with self._lock:
            self._listed = (self._listed or set()) | {machine.launch.node.address}
        _in_thread(self.refresh)

    def _name_controllers(self, machine: Machine) -> None:
        with self._refreshing:
            with self._lock:
                hub, view = self._hub, machine.view
            machine.has_placeholder = False
            if hub and view:
                self._rewrite(hub, machine, view)

    def _living_hub(self, machine: Machine, vpc: Vpc) -> Hub:
        with self._hub_lock:
            _demand(machine)
            if self._hub is None:
                hub = self._make_hub(self.folder, vpc)
                hub.start()
                try:
                    link = PodsLink.of(hub, machine.launch.cluster) if vpc.api_server else None
                except BaseException:
                    hub.end()
                    raise
                with self._lock:
                    self._hub, self._link = hub, link
            return self._hub

    def _rewrite(self, hub: Hub, machine: Machine, view: ClusterView) -> bool:
        """Rewrite the agent's files on a machine; return whether Slurm's configuration changed."""
        new: dict[str, NodeFile] = {files.RESOURCE_CONFIG: files.resource_config(view)}
        try:
            if machine.layout and machine.is_controller and not machine.has_placeholder:
                old = _slurm_conf(hub, machine)
                text = slurm_conf.rewritten(old, view, machine.layout, self.behaviour)
                if text != old:
                    new |= {files.SLURM_CONF: NodeFile(text.encode())} | files.companions(view, machine.layout, self.behaviour)
            hub.put(machine.id, new)
        except (HostError, OSError) as error:  # it is down
            _log.info("the agent's files on %s are unchanged: %s", machine.id, error)
            return False
        machine.view = view
        return files.SLURM_CONF in new

    def _end(self, machine: Machine) -> None:
        with clock.work():
            try:
                self._pull_plug(machine)
                machine.starter.join()
                self._pull_plug(machine)  # if its start did not notice in time that it is unwanted
                if machine.runs_kubelet:
                    kubelet.leave(machine.launch.cluster, machine.launch.node)
            finally:
                self._forget(machine)
            self.refresh()

    def _forget(self, machine: Machine) -> None:
        with self._lock:
            if self._going.get(machine.id) is machine:
                del self._going[machine.id]
        try:
            with self._hub_lock:
                if not self._machines and not self._going:
                    self._end_hub()
        finally:
            machine.gone.set()

    def _pull_plug(self, machine: Machine) -> None:
        with self._lock:
            hub = self._hub
        try:
            if hub:
                hub.stop(machine.id)
        except (HostError, OSError) as error:  # the hub is gone, and the machine with it
            _log.info("%s", error)

    def _end_hub(self) -> None:
        """Stop the hub, if it exists. Hold its lock."""
        with self._lock:
            hub, self._hub = self._hub, None
            link, self._link = self._link, None
        if link:
            link.close()
        if hub:
            hub.end()


def _demand(machine: Machine) -> None:
    if not machine.is_wanted:
        raise HostError(f"node {machine.id} was stopped while it started")


def _in_thread(action: Callable[[], None]) -> None:
    """Run ``action`` outside the schedule's thread; meanwhile AWS's time passes at the host's pace."""

    def act() -> None:
        with clock.work():
            action()

    threading.Thread(target=act, name="agent", daemon=True).start()


def _is_stale(machine: Machine, view: ClusterView, *, keep_removed: bool) -> bool:
    """Return whether a node without a slurm.conf gets the file; with ``keep_removed``, not if nodes only left."""
    if machine.view is None or machine.view.resource_config == view.resource_config:
        return machine.view is None
    return not (keep_removed and machine.layout and set(view.members) < set(machine.view.members))


def _give_up(hub: Hub, controllers: list[Machine], view: ClusterView) -> None:
    """Make the active slurmctld give up the nodes that slurm.conf is about to lose."""
    for machine in controllers:
        hosts = slurm_conf.left(machine.view, view, machine.layout) if machine.view and machine.layout else []
        if hosts and slurmctld.give_up(hub, machine, hosts):
            return


def _slurm_conf(hub: Hub, machine: Machine) -> str:
    lines: list[str] = []
    status = hub.run(machine.id, "cat", files.SLURM_CONF, on_line=lines.append)
    return "".join(f"{line}\n" for line in lines) if status == 0 else ""
