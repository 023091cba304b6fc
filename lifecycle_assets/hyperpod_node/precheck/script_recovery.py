"""Rules about the recovery of a job from the loss of a node.

https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-resiliency-slurm-auto-resume.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperpod_node.precheck.problem import error, warning
from hyperpod_node.precheck.script_resources import GPU_OPTIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hyperpod_node.precheck.problem import Problem
    from hyperpod_node.precheck.sbatch_script import Option, SbatchScript
    from hyperpod_node.precheck.slurm_cluster import SlurmCluster

AUTO_RESUME = "auto-resume"
SHORT_MINUTES = 60  # shorter jobs can be submitted again


def misplaced_auto_resume(script: SbatchScript) -> Iterator[Problem]:
    """Reject --auto-resume as an option of sbatch."""
    option = script.option(AUTO_RESUME)
    if option:
        yield error(option.line, "--auto-resume is an option of srun, not of sbatch", "write `srun --auto-resume=1 ...`")


def auto_resume_without_plugin(script: SbatchScript, cluster: SlurmCluster) -> Iterator[Problem]:
    """Reject --auto-resume if HyperPod's plugin is not loaded."""
    for option in _auto_resumes(script):
        if not cluster.knows(AUTO_RESUME):
            yield error(
                option.line,
                "srun does not support --auto-resume on this cluster: HyperPod's plugin is not loaded",
                "add it only if `srun --help` lists it, as examples/jobs/environment.sh does",
            )


def auto_resume_with_gpus(script: SbatchScript, cluster: SlurmCluster) -> Iterator[Problem]:
    """Report that auto-resume requeues the whole job if Slurm counts its GPUs: the step cannot get another node."""
    asks = any(option.name in (*GPU_OPTIONS, "gres") for option in script.options)
    forbidden = script.option("no-requeue")
    for option in _auto_resumes(script) if asks or cluster.counts_gpus else ():
        if forbidden:
            yield error(
                forbidden.line,
                "--no-requeue disables auto-resume: if Slurm counts GPUs, auto-resume requeues the whole job",
                "remove --no-requeue",
            )
        else:
            yield warning(
                option.line,
                "Slurm counts GPUs: auto-resume requeues the whole job instead of replacing a node of the step",
                "make sure that the script can run again from its first line and continues from a checkpoint",
            )
        return


def no_recovery(script: SbatchScript) -> Iterator[Problem]:
    """Warn about a job on several nodes that the loss of one node ends."""
    nodes = script.option("nodes")
    time = script.option("time")
    if time and minutes_of(time.value) <= SHORT_MINUTES:
        return
    several = nodes is not None and nodes.value not in {"", "1"}
    if nodes and several and not script.option("requeue") and not list(_auto_resumes(script)):
        yield warning(
            nodes.line,
            "neither --requeue nor srun --auto-resume=1: the loss of one node may end the job",
            "add #SBATCH --requeue and save checkpoints in /fsx, as examples/jobs/fsdp does",
        )


def minutes_of(time: str) -> float:
    """Return a time limit in minutes; it is `minutes`, `minutes:seconds` or `hours:minutes:seconds`, also after `days-`."""
    days, dash, rest = time.rpartition("-")
    try:
        parts = [int(part) for part in rest.split(":")]
        # The first part is hours after `days-`, and if there are three parts.
        hours, minutes, seconds = [*parts, 0, 0][:3] if dash or len(parts) == 3 else [0, *[*parts, 0][:2]]
        return int(days or 0) * 24 * 60 + hours * 60 + minutes + seconds / 60
    except ValueError:
        return float("inf")  # `UNLIMITED`, or a variable


def _auto_resumes(script: SbatchScript) -> Iterator[Option]:
    return (option for step in script.steps for option in step if option.name == AUTO_RESUME)


RULES = (misplaced_auto_resume, no_recovery)
CLUSTER_RULES = (auto_resume_without_plugin, auto_resume_with_gpus)
