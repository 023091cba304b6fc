"""Sum tensors over all processes, check every sum on every process, and report the bandwidth.

Started by all_reduce.sbatch. Exits with status 1 and the names of the nodes if a sum is wrong.
"""

from __future__ import annotations

import argparse
import logging
import os
import socket
import sys
import time
from datetime import timedelta
from typing import NoReturn

import torch
import torch.distributed as dist

log = logging.getLogger("all_reduce")


def main() -> int:
    """Check all sizes; rank 0 prints the results."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--largest-mib", type=int, default=64)
    arguments.add_argument("--repeat", type=int, default=5)
    options = arguments.parse_args()

    device = join()
    level = logging.INFO if dist.get_rank() == 0 else logging.CRITICAL
    logging.basicConfig(level=level, format="%(message)s", stream=sys.stdout)
    log.info("%d processes, %s, torch %s", dist.get_world_size(), dist.get_backend(), torch.__version__)
    log.info("%12s %12s %14s", "size", "time", "bus bandwidth")
    wrong = {host for size in sizes(options.largest_mib) for host in check(size, options.repeat, device)}
    if wrong:
        log.error("WRONG sums on %s", ", ".join(sorted(wrong)))
    else:
        log.info("all sums are correct on all processes")
    return 1 if wrong else 0


def join() -> torch.device:
    """Join the process group and return this process's device."""
    cuda = torch.cuda.is_available()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if cuda else torch.device("cpu")
    if cuda:
        torch.cuda.set_device(device)
    # Two minutes: an unreachable node should end the job soon, not after the default of 10 or 30.
    dist.init_process_group("nccl" if cuda else "gloo", timeout=timedelta(minutes=2))
    return device


def sizes(largest_mib: int) -> list[int]:
    """Return the tensor sizes in bytes: from 1 KiB, each 16 times the previous one, and the largest."""
    largest, size, found = largest_mib * 2**20, 1024, []
    while size < largest:
        found.append(size)
        size *= 16
    return [*found, largest]


def check(size: int, repeat: int, device: torch.device) -> list[str]:
    """Sum tensors of ``size`` bytes, report the best time, and return the hosts that got a wrong sum."""
    processes, rank = dist.get_world_size(), dist.get_rank()
    # The sum of small integers does not depend on the order, so it can be compared exactly.
    own = (torch.arange(size // 4, device=device, dtype=torch.float32) % 8) + rank
    expected = processes * (own - rank) + processes * (processes - 1) // 2
    correct, best_s = True, float("inf")
    for _ in range(repeat):
        total = own.clone()
        synchronize(device)
        dist.barrier()
        start = time.perf_counter()
        dist.all_reduce(total)
        synchronize(device)
        best_s = min(best_s, time.perf_counter() - start)
        correct = correct and torch.equal(total, expected)
    hosts: list[str | None] = [None] * processes
    dist.all_gather_object(hosts, None if correct else socket.gethostname())
    # The traffic per link, which is comparable between numbers of processes (the "busbw" of nccl-tests).
    bandwidth = size / best_s * 2 * (processes - 1) / processes
    log.info("%8.0f KiB %9.3f ms %9.3f GB/s", size / 1024, best_s * 1e3, bandwidth / 1e9)
    return [host for host in hosts if host]


def synchronize(device: torch.device) -> None:
    """Wait for the device."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def leave(status: int) -> NoReturn:
    """End this process without destroying the process group.

    In torch 2.6, gloo's destructor hangs in about one of ten runs if another process has ended first, in destroy_process_group
    and at a normal exit. All results are written before.
    """
    dist.barrier()
    logging.shutdown()
    os._exit(status)


if __name__ == "__main__":
    leave(main())
