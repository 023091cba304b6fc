"""What one cluster's coming up took, in all and on each node."""

from collections.abc import Collection
from dataclasses import dataclass

from tests.bench.nodes.measuring_hub import Bringup, Measured
from tests.bench.nodes.process_accounting import descendants, parse, programs

IMDS = "169.254.169.254"
CONTROLLER, LOGIN, WORKERS = "controller", "login", "workers"  # the cluster's groups


@dataclass(frozen=True)
class NodeRun:
    """What one node took. All but the boot is counted from the start of its lifecycle script to the script's end."""

    group: str
    boot_s: float
    on_create_s: float
    idle_s: float | None  # to Slurm having it as idle; None for nodes that are no workers
    cpu_s: float
    node_cpu_s: float
    programs: int | None
    node_programs: int | None
    dns: int
    imds: int
    tries: int  # to connect to a controller before any listens
    to_controllers: int
    to_others: int
    objects: int


@dataclass(frozen=True)
class Run:
    """One cluster that came up."""

    bundle: str
    workers: int
    all_idle_s: float
    nodes: list[NodeRun]
    not_accounted: str = ""  # why programs could not be counted

    def of(self, group: str) -> list[NodeRun]:
        """The nodes of a group."""
        return [node for node in self.nodes if node.group == group]


def summed_up(bundle: str, workers: int, started: float, bringup: Bringup, groups: dict[str, str]) -> Run:
    """What was measured of a cluster, with the group of each node by its id."""
    controllers = {node.address for node in bringup.nodes.values() if groups[node.id] == CONTROLLER}
    nodes = [_of_node(node, groups[node.id], bringup, controllers) for node in bringup.nodes.values()]
    return Run(bundle, workers, max(bringup.idle.values()) - started, nodes, bringup.not_accounted)


def _of_node(node: Measured, group: str, bringup: Bringup, controllers: Collection[str]) -> NodeRun:
    asked = [one for one in bringup.asked if one.source == node.address and node.script_from <= one.moment <= node.script_to]
    connections = [one for one in asked if not one.is_dns]
    to_controllers = [one.moment >= bringup.listens for one in connections if one.target in controllers]
    idle = bringup.idle.get(node.host)
    ended = None if node.ended is None else parse(node.ended)
    return NodeRun(
        group=group,
        boot_s=node.boot_to - node.boot_from,
        on_create_s=node.script_to - node.script_from,
        idle_s=None if idle is None else idle - node.script_from,
        cpu_s=node.script_cpu_s,
        node_cpu_s=node.node_cpu_s,
        programs=None if ended is None else programs(descendants(ended, node.script_pid)),
        node_programs=None if ended is None else programs(ended),
        dns=sum(one.is_dns for one in asked),
        imds=sum(one.target == IMDS for one in connections),
        tries=to_controllers.count(False),
        to_controllers=to_controllers.count(True),
        to_others=sum(one.target != IMDS and one.target not in controllers for one in connections),
        objects=node.objects,
    )
