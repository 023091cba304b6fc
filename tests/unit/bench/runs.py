"""Runs as a bench would measure them."""

from tests.bench.nodes.run import NodeRun, Run


def worker(cpu_s: float = 0.3, programs: int | None = 31, **more: float) -> NodeRun:
    counts = {"dns": 5, "imds": 0, "tries": 7, "to_controllers": 5, "to_others": 0, "objects": 80}
    times = {"boot_s": 1.0, "on_create_s": 6.0, "idle_s": 6.5, "node_cpu_s": 0.7, "node_programs": 70}
    return NodeRun(**{"group": "workers", "cpu_s": cpu_s, "programs": programs, **times, **counts, **more})  # type: ignore[arg-type]  # by name


def run(workers: int, *nodes: NodeRun, bundle: str = "ours", all_idle_s: float = 20.0) -> Run:
    return Run(bundle, workers, all_idle_s, list(nodes) or [worker()])
