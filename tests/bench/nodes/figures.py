"""What a cluster's coming up costs: figures of one run, medians of several, a table of them and what must not grow."""

import statistics
from collections.abc import Iterable, Mapping, Sequence

from tests.bench.nodes.measuring_hub import Bringup, Measured
from tests.bench.nodes.process_accounting import descendants, parse, programs
from tests.bench.timing import verdict

IMDS = "169.254.169.254"
CONTROLLER, LOGIN, WORKERS = "controller", "login", "workers"  # the cluster's groups
ALL_IDLE, CPU = "CreateCluster to all workers idle, s", "CPU of the scripts per worker, s"
PROGRAMS, REQUESTS = "programs started by the scripts", "requests to the network"
# Times the smallest size's. One look more at whether slurmctld knows the node is a program and two connections, of thirty and
# ten; what every worker did for each other one would be many times as much.
LIMITS = {CPU: 1.3, PROGRAMS: 1.1, REQUESTS: 1.5}

Figures = Mapping[str, float | None]  # by title; None where it was not measured


def figures(started: float, bringup: Bringup, groups: Mapping[str, str]) -> Figures:
    """Return the figures of a cluster, with the group of each node by its id: medians of its workers."""
    controllers = {node.address for node in bringup.nodes.values() if groups[node.id] == CONTROLLER}
    workers = [_of_worker(node, bringup, controllers) for node in bringup.nodes.values() if groups[node.id] == WORKERS]
    return {ALL_IDLE: max(bringup.idle.values()) - started, **medians(workers)}


def medians(runs: Sequence[Figures]) -> Figures:
    """Return the median of each figure."""
    return {title: _median(run[title] for run in runs) for title in runs[0]}


def table(by_size: Mapping[int, Figures]) -> str:
    """Return all figures by number of workers, and how many times the smallest size's they are."""
    smallest = min(by_size)
    head = ["median", *(f"{size} workers" for size in by_size)]
    rows = [[title, *(_cell(by_size, size, title) for size in by_size)] for title in by_size[smallest]]
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in [head, *rows])


def growth(by_size: Mapping[int, Figures], tolerance: float) -> bool:
    """Print how much each worker pays more in larger clusters, beside its limit; tell whether all limits hold."""
    smallest = min(by_size)
    held = True
    for size in sorted(by_size)[1:]:
        for title, limit in LIMITS.items():
            value, base = by_size[size][title], by_size[smallest][title]
            if value is not None and base is not None:
                held &= verdict(f"{title}, {size} against {smallest} workers", value, base, limit, tolerance)
    return held


def _of_worker(node: Measured, bringup: Bringup, controllers: set[str]) -> Figures:
    """Return the figures of a worker: all but the boot from the start of its lifecycle script to the script's end."""
    asked = [one for one in bringup.asked if one.source == node.address and node.script_from <= one.moment <= node.script_to]
    connections = [one for one in asked if not one.is_dns]
    tries = sum(one.target in controllers and one.moment < bringup.listens for one in connections)
    to_controllers = sum(one.target in controllers for one in connections) - tries
    imds = sum(one.target == IMDS for one in connections)
    ended = None if node.ended is None else parse(node.ended)
    return {
        "boot, its turn included, s": node.boot_to - node.boot_from,
        "on_create, s": node.script_to - node.script_from,
        "on_create's start to slurmd registered, s": bringup.idle[node.host] - node.script_from,
        CPU: node.script_cpu_s,
        "CPU of the whole worker meanwhile, s": node.node_cpu_s,
        PROGRAMS: None if ended is None else programs(descendants(ended, node.script_pid)),
        "programs started on the worker meanwhile": None if ended is None else programs(ended),
        REQUESTS: len(asked) - tries,
        "  DNS questions": len(asked) - len(connections),
        "  connections to the metadata service": imds,
        "  connections to the controller": to_controllers,
        "  connections to other nodes": len(connections) - tries - to_controllers - imds,
        "tries to connect before a controller listens": tries,
        "objects that HyperPod fetches from S3": node.objects,
    }


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


def _cell(by_size: Mapping[int, Figures], size: int, title: str) -> str:
    smallest = min(by_size)
    value, base = by_size[size][title], by_size[smallest][title]
    if value is None:
        return "not measured"
    text = f"{value:.2f}" if title.endswith(", s") else f"{value:g}"
    return f"{text} (x{value / base:.2f})" if base and size != smallest else text
