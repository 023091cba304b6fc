"""The simulated operator's decisions."""

from typing import Any

import pytest

from local_aws.training_operator.decision import decide
from local_aws.training_operator.jobs import Job
from local_aws.training_operator.operator import noted
from tests.simulator.unit.training_operator.test_jobs import hyperpod, pytorch

RESUMES = {
    "sagemaker.amazonaws.com/enable-job-auto-resume": "true",
    "sagemaker.amazonaws.com/job-max-retry-count": "2",
}
HEALTH = "sagemaker.amazonaws.com/node-health-status"


def in_state(state: str, restarts: int = 0) -> dict[str, Any]:
    return {"conditions": [{"type": state}], "restartCount": restarts}


def pods_of(job: Job, **phases: str) -> dict[str, Any]:
    """The job's pods, each on a node of its own."""
    return {
        name: {"metadata": {}, "spec": {"nodeName": f"node-{number}"}, "status": {"phase": phases.get(f"p{number}", "Running")}}
        for number, name in enumerate(job.pods)
    }


def nodes(*names: str, **health: str) -> dict[str, Any]:
    return {name: {"metadata": {"labels": {HEALTH: health.get(name[-1], "Schedulable")}}} for name in names}


ALL = nodes("node-0", "node-1", "node-2")


def test_a_new_job_gets_all_its_pods() -> None:
    job = pytorch()
    step = decide(job, {}, ALL)
    assert (step.state, step.create) == ("Created", tuple(job.pods))


def test_a_job_runs_once_all_its_pods_run() -> None:
    job = pytorch(**in_state("Created"))
    assert decide(job, pods_of(job, p2="Pending"), ALL).state == ""
    assert decide(job, pods_of(job), ALL).state == "Running"


def test_a_job_is_restarted_as_a_whole_when_a_node_is_gone() -> None:
    job = pytorch(RESUMES, **in_state("Running"))
    step = decide(job, pods_of(job), nodes("node-0", "node-2"))
    assert (step.state, step.delete) == ("Restarting", tuple(job.pods))
    assert "node-1" in step.reason


def test_a_job_is_restarted_when_the_pod_of_a_replaced_node_was_deleted() -> None:
    job = pytorch(RESUMES, **in_state("Running"))
    pods = pods_of(job)
    del pods["fsdp-worker-1"]
    assert decide(job, pods, ALL).state == "Restarting"


def test_a_job_leaves_a_node_that_is_to_be_replaced() -> None:
    job = pytorch(RESUMES, **in_state("Running"))
    found = nodes("node-0", "node-1", "node-2", **{"1": "UnschedulablePendingReplacement"})
    assert decide(job, pods_of(job), found).state == "Restarting"


def test_pods_of_a_restarted_job_are_created_when_the_old_ones_are_gone() -> None:
    job = pytorch(RESUMES, **in_state("Restarting", 1))
    old = {"fsdp-master-0": {"metadata": {"deletionTimestamp": "now"}, "spec": {}}}
    assert decide(job, old, ALL).create == ()
    assert decide(job, {}, ALL).create == tuple(job.pods)


@pytest.mark.parametrize(
    ("job", "why"), [(pytorch(**in_state("Running")), "at most 0"), (pytorch(RESUMES, **in_state("Running", 2)), "at most 2")]
)
def test_a_job_fails_without_restarts_left(job: Job, why: str) -> None:
    step = decide(job, pods_of(job), nodes("node-0"))
    assert step.state == "Failed"
    assert why in step.reason


def test_a_program_that_fails_ends_a_pytorchjob_but_restarts_a_hyperpodpytorchjob() -> None:
    one, other = pytorch(RESUMES, **in_state("Running")), hyperpod(1, **in_state("Running"))
    assert decide(one, pods_of(one, p1="Failed"), ALL).state == "Failed"
    assert decide(other, pods_of(other, p1="Failed"), ALL).state == "Restarting"


def test_rank_0_ends_a_pytorchjob_and_all_ranks_end_a_hyperpodpytorchjob() -> None:
    one, other = pytorch(**in_state("Running")), hyperpod(**in_state("Running"))
    assert decide(one, pods_of(one, p0="Succeeded"), nodes()).state == "Succeeded"
    assert decide(other, pods_of(other, p0="Succeeded"), ALL).state == ""
    assert decide(other, pods_of(other, p0="Succeeded", p1="Succeeded"), ALL).state == "Succeeded"


@pytest.mark.parametrize("state", ["Succeeded", "Failed"])
def test_nothing_happens_to_a_job_that_has_ended(state: str) -> None:
    job = pytorch(RESUMES, **in_state(state))
    assert decide(job, {}, ALL) == decide(job, pods_of(job), {})
    assert decide(job, {}, ALL).state == ""


def test_the_status_says_that_the_operator_is_simulated_and_counts_restarts() -> None:
    job = pytorch(RESUMES, **in_state("Running", 1))
    status = noted(job, decide(job, pods_of(job), nodes()))
    assert status["restartCount"] == 2
    assert [each["status"] for each in status["conditions"]] == ["False", "True"]
    assert status["conditions"][-1]["message"].startswith("simulated operator: ")
