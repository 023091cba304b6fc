"""Train a small transformer with FSDP, and resume from the newest checkpoint. Started by train.sbatch.

It uses `FullyShardedDataParallel`, not the newer `fully_shard`, which cannot train on CPUs in torch 2.6 (its streams require
CUDA's `record_event`). So the same code runs with and without GPUs.
"""

from __future__ import annotations

import argparse
import hashlib
import logging
import os
import sys
import time
import uuid
import warnings
from pathlib import Path
from typing import NoReturn

import checkpoint
import checkpoint_folders
import torch
import torch.distributed as dist
from checkpoint import Progress
from model import VOCABULARY, Block, Transformer, samples
from torch.distributed.fsdp import FullyShardedDataParallel
from torch.distributed.fsdp.wrap import ModuleWrapPolicy

# torch 2.6 warns about its own use of deprecated functions, with hundreds of lines per checkpoint.
warnings.filterwarnings("ignore", module=r"torch\.distributed")
log = logging.getLogger("train")
LENGTH, BATCH = 32, 8  # tokens of a sample; samples per process and step


def main() -> int:
    """Train up to ``--steps`` steps, counted from the first run."""
    options = read_options()
    device = join()
    rank, processes = dist.get_rank(), dist.get_world_size()
    logging.basicConfig(level=logging.INFO if rank == 0 else logging.WARNING, format="%(message)s", stream=sys.stdout)

    torch.manual_seed(0)  # the same weights on all processes
    model = FullyShardedDataParallel(
        Transformer(LENGTH).to(device), auto_wrap_policy=ModuleWrapPolicy({Block}), device_id=device, use_orig_params=True
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    torch.manual_seed(1 + rank)  # dropout differs between processes

    attempt = options.attempt or agreed_attempt()
    progress = checkpoint.restore(options.checkpoints, model, optimizer)
    log.info("torch %s, %s, %d processes, starting at step %d", torch.__version__, dist.get_backend(), processes, progress.step)
    while progress.step < options.steps:
        start = time.perf_counter()
        loss = train_step(model, optimizer, progress.samples + rank * BATCH, device)
        progress = Progress(progress.step + 1, progress.samples + processes * BATCH, processes)
        if progress.step % options.report_every == 0:
            log.info("step %6d  loss %.6f  %.3f s", progress.step, loss, time.perf_counter() - start)
        if progress.step % options.checkpoint_every == 0 or progress.step == options.steps:
            checkpoint.save(options.checkpoints, progress, model, optimizer, attempt)
            if rank == 0:
                checkpoint_folders.prune(options.checkpoints, options.keep)
    loss, weights = evaluate(model, device), fingerprint(model)
    log.info("done: %d steps, %d samples, loss %.9f, weights %s", progress.step, progress.samples, loss, weights)
    return 0


def read_options() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checkpoints", type=Path, required=True, help="folder for checkpoints that all nodes share, on /fsx")
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--checkpoint-every", type=int, default=25)
    parser.add_argument("--report-every", type=int, default=25)
    parser.add_argument("--keep", type=int, default=2, help="number of checkpoints to keep")
    parser.add_argument("--attempt", help="unique id of this run of the job; default: the processes agree on one")
    return parser.parse_args()


def join() -> torch.device:
    """Join the process group and return this process's device."""
    if not torch.cuda.is_available():
        dist.init_process_group("gloo")
        return torch.device("cpu")
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    # NCCL for the training, gloo for the messages of checkpoints on the CPU.
    dist.init_process_group("cpu:gloo,cuda:nccl")
    return device


def agreed_attempt() -> str:
    """Return an id of this run that the first process chooses, for launchers that give none."""
    found = [uuid.uuid4().hex[:8]]
    dist.broadcast_object_list(found)
    return found[0]


def train_step(model: torch.nn.Module, optimizer: torch.optim.Optimizer, first: int, device: torch.device) -> float:
    """Train on this process's samples, starting at ``first``, and return the loss averaged over all processes."""
    model.train()
    loss = next_token_loss(model, samples(first, BATCH, LENGTH).to(device))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return average(loss.detach())


def evaluate(model: torch.nn.Module, device: torch.device) -> float:
    """Return the loss on samples that are not used for training."""
    model.eval()
    with torch.no_grad():
        return average(next_token_loss(model, samples(2**40 + dist.get_rank() * 64, 64, LENGTH).to(device)))


def next_token_loss(model: torch.nn.Module, tokens: torch.Tensor) -> torch.Tensor:
    """Return the cross entropy of predicting each token from the previous ones."""
    logits = model(tokens[:, :-1])
    return torch.nn.functional.cross_entropy(logits.reshape(-1, VOCABULARY), tokens[:, 1:].reshape(-1))


def average(value: torch.Tensor) -> float:
    """Return the average over all processes; gloo has no average operation."""
    dist.all_reduce(value)
    return value.item() / dist.get_world_size()


def fingerprint(model: torch.nn.Module) -> str:
    """Return a short digest of all weights, to compare trainings on the same number of processes."""
    own = hashlib.sha256()
    for name, part in model.named_parameters():  # with FSDP, this process's shard of each
        own.update(name.encode() + part.detach().cpu().numpy().tobytes())
    digests: list[str] = [""] * dist.get_world_size()
    dist.all_gather_object(digests, own.hexdigest())
    return hashlib.sha256("".join(digests).encode()).hexdigest()[:16]


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
