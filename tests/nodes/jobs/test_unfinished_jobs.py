"""A node that goes while a job on it takes its time to end."""

import pytest

from local_aws.hyperpod import service_behaviour
from tests.nodes.jobs.submitted import JOBS, Cluster, Job
from tests.simulator.hyperpod.world import until

pytestmark = pytest.mark.local

# Slurm asks it to end, and it goes on for a while, as a job does that saves something at the last moment.
SLOW_TO_END = r"""#!/bin/bash
srun bash -c 'trap "sleep 3; exit" TERM; touch ready-$SLURM_PROCID; while :; do sleep 0.1; done'
"""


def submit(cluster: Cluster) -> Job:
    cluster.as_alice(f"mkdir -p {JOBS}/slow && cd {JOBS}/slow && cat >slow.sbatch <<'END'\n{SLOW_TO_END}END")
    options = "--nodes=2 --ntasks-per-node=1 --exclusive --requeue --output=slow-%j.out"
    number = cluster.as_alice(f"cd {JOBS}/slow && rm -f ready-* && sbatch --parsable {options} slow.sbatch")
    job = Job(cluster.running, number, f"{JOBS}/slow", f"slow-{number}.out")
    ready = ("bash", "-c", f"ls {JOBS}/slow | grep --count ready- || true")
    until(lambda: cluster.running.run("login-1", *ready), lambda count: count == "2")
    return job


def test_a_job_that_still_ends_when_its_node_is_replaced_is_queued_again_once(cluster: Cluster) -> None:
    """Slurm 24.11 leaves it COMPLETING for ever where slurm.conf loses the node at once."""
    running, job = cluster.running, submit(cluster)
    lost = running.machine("workers-2")
    service_behaviour.choose({"replaced_address": "new"})
    running.world.sagemaker.batch_replace_cluster_nodes(ClusterName="ml", NodeIds=[lost["id"]])

    assert job.until_state("PENDING")["Restarts"] == "1"

    running.settle()
    service_behaviour.reset()
    running.idle(2)
    assert job.facts()["Restarts"] == "1"
    cluster.as_alice(f"scancel {job.number}")
