"""What the simulated operator does next with a job."""

from collections.abc import Mapping
from dataclasses import dataclass

from local_aws.json_service import Json
from local_aws.training_operator.jobs import HYPERPOD, Job

_HEALTH = "sagemaker.amazonaws.com/node-health-status"
_ENDS = ("Succeeded", "Failed")


@dataclass(frozen=True)
class Step:
    """A new state of the job, with its reason; pods to create and pods to delete."""

    state: str = ""
    reason: str = ""
    create: tuple[str, ...] = ()
    delete: tuple[str, ...] = ()


def decide(job: Job, pods: Mapping[str, Json], nodes: Mapping[str, Json]) -> Step:
    """Return the next step; ``pods`` are the job's own by name, ``nodes`` all by name."""
    if job.state in _ENDS or not job.pods:
        return Step()
    if job.state in ("", "Restarting"):
        missing = tuple(name for name in job.pods if name not in pods)
        return Step() if any(map(_is_going, pods.values())) else Step("Created", "pods are created", create=missing)
    if _has_succeeded(job, pods):
        return Step("Succeeded", "all ranks have ended" if job.kind == HYPERPOD else "rank 0 has ended")
    return _of_running(job, pods, nodes)


def _of_running(job: Job, pods: Mapping[str, Json], nodes: Mapping[str, Json]) -> Step:
    lost = _lost(job, pods, nodes)
    failed = next((f"pod {name} failed" for name, pod in pods.items() if _phase(pod) == "Failed"), "")
    if lost or (failed and job.kind == HYPERPOD):
        return _restart(job, pods, lost or failed)
    if failed:
        return Step("Failed", failed)
    if job.state != "Running" and all(_phase(pod) == "Running" for pod in pods.values()):
        return Step("Running", "all ranks run")
    return Step()


def _restart(job: Job, pods: Mapping[str, Json], reason: str) -> Step:
    if job.retries >= job.most_retries:
        return Step("Failed", f"{reason}; restarted {job.retries} times, at most {job.most_retries}")
    return Step("Restarting", reason, delete=tuple(pods))


def _lost(job: Job, pods: Mapping[str, Json], nodes: Mapping[str, Json]) -> str:
    """Return why a rank is lost with its node; empty if none is."""
    for name in job.pods:
        if name not in pods or _is_going(pods[name]):
            return f"pod {name} was deleted"
        node = pods[name]["spec"].get("nodeName")
        if node and node not in nodes:
            return f"node {node} of pod {name} is gone"
        health = nodes[node]["metadata"].get("labels", {}).get(_HEALTH, "") if node else ""
        if health.startswith("UnschedulablePending"):
            return f"node {node} of pod {name} is {health}"
    return ""


def _has_succeeded(job: Job, pods: Mapping[str, Json]) -> bool:
    names = list(job.pods) if job.kind == HYPERPOD else list(job.pods)[:1]
    return all(name in pods and _phase(pods[name]) == "Succeeded" for name in names)


def _is_going(pod: Json) -> bool:
    return bool(pod["metadata"].get("deletionTimestamp"))


def _phase(pod: Json) -> str:
    return str((pod.get("status") or {}).get("phase", ""))
