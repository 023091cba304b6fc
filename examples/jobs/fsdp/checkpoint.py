"""Saves and restores everything that a training goes on from: model, optimizer, random numbers, place in the data."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import checkpoint_folders
import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Progress:
    """How far a training is."""

    step: int = 0
    samples: int = 0
    processes: int = 0


def save(folder: Path, progress: Progress, model: torch.nn.Module, optimizer: torch.optim.Optimizer, attempt: str) -> None:
    """Write a checkpoint of all processes; it counts only when this returns on rank 0."""
    first = dist.get_rank() == 0
    partial = folder / f"{checkpoint_folders.name_of(progress.step)}.{attempt}.partial"
    if first:
        checkpoint_folders.begin(folder, progress.step, attempt)
    dist.barrier()
    weights, optimizer_state = get_state_dict(model, optimizer)
    dcp.save({"model": weights, "optimizer": optimizer_state}, checkpoint_id=partial)  # each process its own part, in parallel
    torch.save(_random_state(), partial / _random_name())
    if first:
        (partial / "progress.json").write_text(json.dumps(asdict(progress)))
    dist.barrier()
    if first:
        checkpoint_folders.publish(partial, progress.step)


def restore(folder: Path, model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> Progress:
    """Load the newest complete checkpoint, where there is one, and return how far it is."""
    # One process looks, and tells the others: on a shared file system two may see two different newest ones.
    found: list[Any] = [checkpoint_folders.newest(folder) if dist.get_rank() == 0 else None]
    dist.broadcast_object_list(found)
    path: Path | None = found[0]
    if path is None:
        return Progress(processes=dist.get_world_size())
    weights, optimizer_state = get_state_dict(model, optimizer)
    state = {"model": weights, "optimizer": optimizer_state}
    dcp.load(state, checkpoint_id=path)
    set_state_dict(model, optimizer, model_state_dict=state["model"], optim_state_dict=state["optimizer"])
    progress = Progress(**json.loads((path / "progress.json").read_text()))
    if progress.processes == dist.get_world_size():
        _set_random_state(torch.load(path / _random_name(), weights_only=True))
    # Else there are more or fewer processes than states: each goes on with the one that it was started with. Model, optimizer
    # and data go on exactly; dropout's choices do not.
    return progress


def _random_name() -> str:
    return f"random-{dist.get_rank():05d}.pt"


def _random_state() -> dict[str, torch.Tensor]:
    state = {"cpu": torch.get_rng_state()}
    if torch.cuda.is_available():
        state["cuda"] = torch.cuda.get_rng_state()
    return state


def _set_random_state(state: dict[str, torch.Tensor]) -> None:
    torch.set_rng_state(state["cpu"])
    if torch.cuda.is_available():
        torch.cuda.set_rng_state(state["cuda"])
