"""What runs tell when they are put together: medians, ratios, and a table of them."""

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from tests.bench.nodes.run import WORKERS, NodeRun, Run

ALL_IDLE, CPU = "CreateCluster to all workers idle, s", "CPU of the scripts per worker, s"
PROGRAMS, REQUESTS = "programs started by the scripts", "requests to the network"


@dataclass(frozen=True)
class Figure:
    """One figure of a run: of the cluster, or the median of its workers; None where it was not measured."""

    title: str
    of: Callable[[Run], float | None]
    digits: int = 0


def _of_workers(look: Callable[[NodeRun], float | None]) -> Callable[[Run], float | None]:
    return lambda run: _median(look(node) for node in run.of(WORKERS))


FIGURES = (
    Figure(ALL_IDLE, lambda run: run.all_idle_s, 1),
    Figure("boot, its turn included, s", _of_workers(lambda node: node.boot_s), 1),
    Figure("on_create, s", _of_workers(lambda node: node.on_create_s), 1),
    Figure("on_create's start to slurmd registered, s", _of_workers(lambda node: node.idle_s), 1),
    Figure(CPU, _of_workers(lambda node: node.cpu_s), 2),
    Figure("CPU of the whole worker meanwhile, s", _of_workers(lambda node: node.node_cpu_s), 2),
    Figure(PROGRAMS, _of_workers(lambda node: node.programs)),
    Figure("programs started on the worker meanwhile", _of_workers(lambda node: node.node_programs)),
    Figure(REQUESTS, _of_workers(lambda node: node.dns + node.imds + node.to_controllers + node.to_others)),
    Figure("  DNS questions", _of_workers(lambda node: node.dns)),
    Figure("  connections to the metadata service", _of_workers(lambda node: node.imds)),
    Figure("  connections to the controller", _of_workers(lambda node: node.to_controllers)),
    Figure("  connections to other nodes", _of_workers(lambda node: node.to_others)),
    Figure("tries to connect before a controller listens", _of_workers(lambda node: node.tries)),
    Figure("objects that HyperPod fetches from S3", _of_workers(lambda node: node.objects)),
)

Key = tuple[str, int]  # a bundle's name and a number of workers
Medians = Mapping[Key, Mapping[str, float | None]]


def medians(runs: Iterable[Run]) -> dict[Key, dict[str, float | None]]:
    """The median of each figure, by bundle and size, in the order in which these first come."""
    rounds: dict[Key, list[Run]] = {}
    for run in runs:
        rounds.setdefault((run.bundle, run.workers), []).append(run)
    return {key: {figure.title: _median(figure.of(run) for run in same) for figure in FIGURES} for key, same in rounds.items()}


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


def ratio(value: float | None, base: float | None) -> str:
    """How many times the base a value is, as it stands in a table."""
    return f"{value / base:.2f}" if value is not None and base else "-"


def table(found: Medians) -> str:
    """All figures: for each bundle and size the median, and how many times the smallest size's and the first bundle's."""
    keys = list(found)
    head = ["median", *(f"{bundle}, {workers} workers" for bundle, workers in keys)]
    rows = [[figure.title, *(_cell(found, key, figure) for key in keys)] for figure in FIGURES]
    return "\n".join(_lines([head, *rows]))


def _cell(found: Medians, key: Key, figure: Figure) -> str:
    value = found[key][figure.title]
    if value is None:
        return "not measured"
    text = f"{value:.{figure.digits}f}"
    smallest, first = base_keys(found, key)
    if smallest != key:
        text += f" (x{ratio(value, found[smallest][figure.title])})"
    if first not in (key, smallest) or (first != key and smallest == key):
        text += f" [x{ratio(value, found[first][figure.title])}]"
    return text


def base_keys(found: Medians, key: Key) -> tuple[Key, Key]:
    """What a bundle at a size is held against: itself at the smallest size, and the first bundle at the same size."""
    bundle, workers = key
    return (bundle, min(size for name, size in found if name == bundle)), (next(iter(found))[0], workers)


def _lines(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    return ["  ".join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))]) for row in rows]
