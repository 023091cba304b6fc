"""Timing commands against each other: interleaved runs, medians, ratios."""

import resource
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path


def seconds(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> float:
    """How long ``command`` takes; it must succeed."""
    started = time.perf_counter()
    _run(command, folder, environment)
    return time.perf_counter() - started


def cpu_seconds(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> float:
    """How much time ``command`` and its child processes have the processors for; it must succeed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    _run(command, folder, environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _run(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> None:
    done = subprocess.run(command, cwd=folder, env=dict(environment), capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"`{' '.join(command)}` ended with status {done.returncode}:\n{done.stdout}{done.stderr}")


def medians(runs: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    """The median of each run, all of them taking turns so that a slow moment hits them alike."""
    taken: dict[str, list[float]] = {name: [] for name in runs}
    for number in range(1, rounds + 1):
        for name, run in runs.items():
            taken[name].append(run())
        print(
            f"  round {number} of {rounds}: " + ", ".join(f"{name} {times[-1]:.2f} s" for name, times in taken.items()),
            flush=True,
        )
    return {name: statistics.median(times) for name, times in taken.items()}


def verdict(what: str, measured: float, base: float, limit: float, tolerance: float) -> bool:
    """Print the ratio of two medians beside its limit; tell whether it holds, or is at most ``tolerance`` times the limit."""
    ratio = measured / base
    word = (
        "ok"
        if ratio <= limit
        else "over it, within the tolerance for a busy machine"
        if ratio <= limit * tolerance
        else "TOO MUCH"
    )
    print(f"{what}: {measured:.2f} / {base:.2f} = {ratio:.2f} (at most {limit}): {word}")
    return ratio <= limit * tolerance
