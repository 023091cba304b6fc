"""The node runner that boots simulated nodes on this machine for the embedded HyperPod."""

import logging
import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from local_aws import control
from local_aws.builds.errors import HostError
from local_aws.clock import clock
from local_aws.hyperpod import starting
from local_aws.hyperpod.check_only_runner import CheckOnlyRunner
from local_aws.hyperpod.model import Cluster
from local_aws.hyperpod.node_runner import Done, Launch, Outcome, Reserved
from local_aws.nodes import support
from local_aws.nodes.agent import real_time
from local_aws.nodes.agent.behaviour import Behaviour
from local_aws.nodes.agent.bundle import Store
from local_aws.nodes.agent.cluster_nodes import ClusterNodes, MakeHub
from local_aws.nodes.agent.machine import Machine
from local_aws.nodes.agent.node_start import NodeStart, StartContext
from local_aws.nodes.hub import Hub
from local_aws.nodes.image import store as images
from local_aws.nodes.specs import Vpc
from local_aws.nodes.sweep import sweep

_log = logging.getLogger(__name__)


class SimulatedNodes:
    """A node runner with simulated nodes: one hub per cluster. All its files are below ``folder``."""

    starts_in_real_time = True

    def __init__(self, folder: Path, endpoint: str, make_hub: MakeHub, behaviour: Behaviour | None = None) -> None:
        self.behaviour = behaviour or Behaviour()  # for clusters created from now on
        self._folder, self._endpoint, self._make_hub = folder, endpoint, make_hub
        self._clusters: dict[str, ClusterNodes] = {}
        self._context = self._new_context()
        self._lock = threading.Lock()

    @property
    def runs_kubelets(self) -> bool:
        """Return whether nodes of EKS clusters run a kubelet here."""
        return support.kubelet() is not None

    def start(self, launch: Launch, done: Done) -> None:
        """Boot the node and run its lifecycle script, in a thread; meanwhile AWS's time passes at the host's pace."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)  # /fsx may contain setuid programs of the nodes' root
        nodes, context = self._nodes_of(launch.cluster), self._context

        def run() -> None:
            with clock.work():
                outcome = _outcome(NodeStart(machine, nodes, context))
            if machine.is_wanted:
                done(outcome)
                if outcome.failure is None:
                    nodes.add_line(machine)

        machine = Machine(launch, threading.Thread(target=run, name=f"start-{launch.node.id}", daemon=True))
        nodes.start(machine)

    def stop(self, node_id: str) -> None:
        """Start to stop the node, if it runs."""
        for nodes in self._all():
            nodes.stop(node_id)

    def reboot(self, node_id: str, done: Done) -> None:
        """Reboot the node, in a thread."""
        found = self._find(node_id)
        if found is None:
            done(Outcome(f"Node {node_id} is not running"))
            return
        nodes, machine = found

        def run() -> None:
            failure = None
            with clock.work():
                try:
                    nodes.reboot(machine)
                except HostError as error:
                    failure = f"The node did not come back: {error}"
            if machine.is_wanted:
                done(Outcome(failure))

        threading.Thread(target=run, name=f"reboot-{node_id}", daemon=True).start()

    def reserve(self, name: str, node_ids: Sequence[str], done: Reserved) -> None:
        """Reserve the nodes in Slurm, in a thread."""
        found = [each for node_id in node_ids if (each := self._find(node_id))]

        def run() -> None:
            with clock.work():
                busy = found[0][0].reserve(name, [machine for _, machine in found]) if found else set()
            done(busy)

        threading.Thread(target=run, name=f"reserve-{name}", daemon=True).start()

    def release(self, name: str, node_ids: Sequence[str], done: Callable[[], None]) -> None:
        """Delete the reservation, in a thread."""
        found = next(filter(None, map(self._find, node_ids)), None)

        def run() -> None:
            with clock.work():
                if found:
                    found[0].release(name)
            done()

        threading.Thread(target=run, name=f"release-{name}", daemon=True).start()

    def reset(self) -> None:
        """Stop all nodes, and delete their files."""
        with self._lock:
            clusters, self._clusters = list(self._clusters.values()), {}
            self._context = self._new_context()
        ends = [threading.Thread(target=nodes.end) for nodes in clusters]
        for end in ends:
            end.start()
        for end in ends:
            end.join()
        shutil.rmtree(self._folder, ignore_errors=True)

    def describe(self) -> list[dict[str, str]]:
        """Return every node that was started and not stopped."""
        return [machine.describe(str(nodes.folder)) for nodes in self._all() for machine in nodes.machines()]

    def _new_context(self) -> StartContext:
        return StartContext(self._endpoint, self._folder / "fsx", Store())

    def _nodes_of(self, cluster: Cluster) -> ClusterNodes:
        with self._lock:
            if cluster.arn not in self._clusters:
                folder = self._folder / "clusters" / f"{cluster.name}-{cluster.id}"
                self._clusters[cluster.arn] = ClusterNodes(folder, self._make_hub, self.behaviour)
            return self._clusters[cluster.arn]

    def _find(self, node_id: str) -> tuple[ClusterNodes, Machine] | None:
        for nodes in self._all():
            machine = nodes.find(node_id)
            if machine:
                return nodes, machine
        return None

    def _all(self) -> list[ClusterNodes]:
        with self._lock:
            return list(self._clusters.values())


def _outcome(start: NodeStart) -> Outcome:
    try:
        return start.run()
    except Exception as error:  # noqa: BLE001  any error: without an outcome the cluster would wait for ever
        if start.machine.is_wanted:  # otherwise the hub or the account was deleted meanwhile
            _log.exception("the start of node %s failed", start.machine.id)
        return Outcome(f"The node did not start: {type(error).__name__}: {error}")


@contextmanager
def simulated_nodes(
    folder: Path, endpoint: str, hub: Callable[[Path, Path, Vpc], Hub] = Hub, behaviour: Behaviour | None = None
) -> Iterator[SimulatedNodes]:
    """Run nodes for the embedded AWS at ``endpoint``, in this process, within the block; raise HostError if impossible."""
    reasons = support.missing()
    if reasons:
        raise HostError("; ".join(reasons))
    image = support.image()
    images.note_use(image)
    sweep(folder)
    shutil.rmtree(folder, ignore_errors=True)

    def make_hub(place: Path, vpc: Vpc) -> Hub:
        made = hub(place, image, vpc)
        made.endpoint = endpoint
        made.kubelet = support.kubelet() if vpc.api_server else None
        return made

    runner = SimulatedNodes(folder.resolve(), endpoint, make_hub, behaviour)
    control.route("nodes", lambda _: runner.describe())
    starting.use(runner)
    try:
        with real_time.while_nodes_follow(runner.describe):
            yield runner
    finally:
        starting.use(CheckOnlyRunner())
        control.route("nodes", lambda _: [])
        runner.reset()
