"""Save and restore the state of a training: model, optimizer, random numbers, position in the data."""

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
    """The progress of a training."""

    step: int = 0
    samples: int = 0
    processes: int = 0


def save(folder: Path, progress: Progress, model: torch.nn.Module, optimizer: torch.optim.Optimizer, attempt: str) -> None:
    """Write a checkpoint of all processes; it is complete when this returns on rank 0."""
    first = dist.get_rank() == 0
    partial = folder / f"{checkpoint_folders.name_of(progress.step)}.{attempt}.partial"
    if first:
        checkpoint_folders.begin(folder, progress.step, attempt)
    dist.barrier()
    weights, optimizer_state = get_state_dict(model, optimizer)
    dcp.save({"model": weights, "optimizer": optimizer_state}, checkpoint_id=partial)  # each process writes its part
    torch.save(_random_state(), partial / _random_name())
    if first:
        (partial / "progress.json").write_text(json.dumps(asdict(progress)))
    dist.barrier()
    if first:
        checkpoint_folders.publish(partial, progress.step)


def restore(folder: Path, model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> Progress:
    """Load the newest complete checkpoint, if there is one, and return its progress."""
    # Only one process looks for it: on a shared file system, two processes may see different newest checkpoints.
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
    # With another number of processes, each keeps its initial random state: model, optimizer and data resume exactly, dropout
    # does not.
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
