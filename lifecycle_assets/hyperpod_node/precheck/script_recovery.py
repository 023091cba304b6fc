"""Rules about what becomes of a job when a node is lost.

https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-resiliency-slurm-auto-resume.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperpod_node.precheck.finding import error, warning
from hyperpod_node.precheck.script_resources import GPU_OPTIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hyperpod_node.precheck.finding import Finding
    from hyperpod_node.precheck.sbatch_script import Option, SbatchScript
    from hyperpod_node.precheck.slurm_cluster import SlurmCluster

AUTO_RESUME = "auto-resume"
SHORT_MINUTES = 60  # who loses a job of this length submits it again


def misplaced_auto_resume(script: SbatchScript) -> Iterator[Finding]:
    """Auto-resume is about a step."""
    option = script.option(AUTO_RESUME)
    if option:
        yield error(option.line, "--auto-resume is an option of srun, not of sbatch", "write `srun --auto-resume=1 ...`")


def auto_resume_without_plugin(script: SbatchScript, cluster: SlurmCluster) -> Iterator[Finding]:
    """Only HyperPod's plugin knows the option."""
    for option in _auto_resumes(script):
        if not cluster.knows(AUTO_RESUME):
            yield error(
                option.line,
                "srun does not know --auto-resume on this cluster: HyperPod's plugin is not loaded",
                "add it only where `srun --help` lists it, as examples/jobs/environment.sh does",
            )


def auto_resume_with_gpus_asked_for(script: SbatchScript, cluster: SlurmCluster) -> Iterator[Finding]:
    """A step cannot get another node where Slurm counted its GPUs: the whole job is queued again instead."""
    asks = any(option.name in (*GPU_OPTIONS, "gres") for option in script.options)
    forbidden = script.option("no-requeue")
    for option in _auto_resumes(script) if asks or cluster.counts_gpus else ():
        if forbidden:
            yield error(
                forbidden.line,
                "--no-requeue with GPUs that Slurm counts: auto-resume then queues the whole job again, and may not",
                "take out --no-requeue",
            )
        else:
            yield warning(
                option.line,
                "where Slurm counts GPUs, auto-resume does not replace the step's node but queues the whole job again",
                "nothing, if the script may start from its first line again and goes on from a checkpoint",
            )
        return


def no_recovery(script: SbatchScript) -> Iterator[Finding]:
    """A job on several nodes is lost with each of them."""
    nodes = script.option("nodes")
    time = script.option("time")
    if time and minutes_of(time.value) <= SHORT_MINUTES:
        return
    several = nodes is not None and nodes.value not in {"", "1"}
    if nodes and several and not script.option("requeue") and not list(_auto_resumes(script)):
        yield warning(
            nodes.line,
            "neither --requeue nor srun --auto-resume=1: one lost node may end the job for good",
            "add #SBATCH --requeue and save checkpoints on /fsx; examples/jobs/fsdp shows both",
        )


def minutes_of(time: str) -> float:
    """A time limit in minutes: `minutes`, `minutes:seconds`, `hours:minutes:seconds`, each also after `days-`."""
    days, dash, rest = time.rpartition("-")
    try:
        parts = [int(part) for part in rest.split(":")]
        # After days the first part is hours; else it is so only if there are three parts.
        hours, minutes, seconds = [*parts, 0, 0][:3] if dash or len(parts) == 3 else [0, *[*parts, 0][:2]]
        return int(days or 0) * 24 * 60 + hours * 60 + minutes + seconds / 60
    except ValueError:
        return float("inf")  # `UNLIMITED`, or a variable


def _auto_resumes(script: SbatchScript) -> Iterator[Option]:
    return (option for step in script.steps for option in step if option.name == AUTO_RESUME)


RULES = (misplaced_auto_resume, no_recovery)
CLUSTER_RULES = (auto_resume_without_plugin, auto_resume_with_gpus_asked_for)
