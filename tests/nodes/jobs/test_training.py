"""A training that loses a node in the middle ends as if nothing had happened."""

import re

import pytest

from local_aws.hyperpod import service_behaviour
from tests.nodes.jobs.submitted import Cluster, Job

pytestmark = pytest.mark.local

OPTIONS = ("--steps=60", "--checkpoint-every=10", "--report-every=10")


def submit(cluster: Cluster) -> Job:
    return cluster.submit("fsdp", "train.sbatch", *OPTIONS)


def last_line(output: str) -> str:
    """What the training says of its end: steps, samples, the loss and a digest of all weights."""
    [line] = re.findall(r"^done: 60 steps, 960 samples, loss \S+, weights [0-9a-f]{16}$", output, re.MULTILINE)
    return str(line)


def test_a_training_that_loses_a_node_ends_with_the_loss_and_weights_of_one_that_does_not(cluster: Cluster) -> None:
    running = cluster.running
    undisturbed = submit(cluster).completed()

    job = submit(cluster)
    job.until_checkpoint()
    lost = running.machine("workers-2")
    service_behaviour.choose({"replaced_address": "new"})
    running.world.sagemaker.batch_replace_cluster_nodes(ClusterName="ml", NodeIds=[lost["id"]])
    job.until_state("PENDING")
    running.settle()
    service_behaviour.reset()
    running.run("controller-1", "scontrol", "update", f"JobId={job.number}", "StartTime=now")
    output = job.completed()

    assert job.facts()["Restarts"] == "1"
    starts = [int(step) for step in re.findall(r"starting at step (\d+)$", output, re.MULTILINE)]
    assert starts[0] == 0
    assert 0 < starts[1] < 60
    assert last_line(output) == last_line(undisturbed)
    assert lost["host"] not in running.idle(2)
