"""Training with the simulated operator on a HyperPod cluster on EKS: a replaced node, and a job that resumes."""

import json
from typing import Any

import pytest

from tests.kubernetes_nodes.pods import POD_S, PYTORCH, Pods
from tests.local.hyperpod.world import until

HEALTHY = {"sagemaker.amazonaws.com/node-health-status": "Schedulable"}
AUTO_RESUME = {
    "sagemaker.amazonaws.com/enable-job-auto-resume": "true",
    "sagemaker.amazonaws.com/job-max-retry-count": "2",
}
CHECKPOINT = "/checkpoints/step.json"
END = "/checkpoints/end"
# Trains until a file tells it to end, so that no test depends on the time that a step takes. Rank 0 saves each step.
TRAIN = f"""\
import json, os, pathlib, time
import torch, torch.distributed as distributed
from torch.nn.parallel import DistributedDataParallel
checkpoint, end = pathlib.Path({CHECKPOINT!r}), pathlib.Path({END!r})
distributed.init_process_group("gloo")
rank, step = distributed.get_rank(), 0
torch.manual_seed(0)
model = DistributedDataParallel(torch.nn.Linear(4, 1))
if checkpoint.exists():
    saved = json.loads(checkpoint.read_text())
    step = saved["step"]
    model.module.weight.data = torch.tensor(saved["weight"])
print("starts at step", step, flush=True)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
is_last = False
while not is_last:
    told = torch.tensor([float(rank == 0 and end.exists())])
    distributed.all_reduce(told)
    is_last = bool(told.item())
    inputs = torch.ones(8, 4) * (rank + 1)
    loss = ((model(inputs) - inputs.sum(1, keepdim=True)) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    step += 1
    if rank == 0:
        new = checkpoint.with_suffix(".new")
        new.write_text(json.dumps({{"step": step, "weight": model.module.weight.data.tolist()}}))
        new.rename(checkpoint)
    time.sleep(0.05)
print("ends at step", step, flush=True)
"""
JOBS = "/apis/kubeflow.org/v1/namespaces/default/pytorchjobs"


@pytest.fixture(scope="module")
def cluster(pods: Pods) -> Pods:
    """A cluster with two nodes and a file system."""
    pods.make_file_system()
    pods.create(2, InstanceType="ml.p5.48xlarge")
    return pods


def pytorchjob(volume: str) -> dict[str, Any]:
    container = {
        "name": "pytorch",
        "image": PYTORCH,
        "command": ["python3", "-c", TRAIN],
        "env": [{"name": "USE_LIBUV", "value": "0"}],
        "resources": {"limits": {"nvidia.com/gpu": "8"}},
        "volumeMounts": [{"name": "shared", "mountPath": "/checkpoints"}],
    }
    volumes = [{"name": "shared", "hostPath": {"path": volume}}]
    replica = {
        "replicas": 1,
        "restartPolicy": "OnFailure",
        "template": {"spec": {"nodeSelector": HEALTHY, "containers": [container], "volumes": volumes}},
    }
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": "fsdp", "annotations": AUTO_RESUME},
        "spec": {"pytorchReplicaSpecs": {"Master": replica, "Worker": replica}},
    }


def states(cluster: Pods) -> list[str]:
    status = cluster.get(f"{JOBS}/fsdp").get("status") or {}
    return [condition["type"] for condition in status.get("conditions") or ()]


def test_the_simulated_operator_resumes_a_job_from_its_checkpoint_when_a_node_is_replaced(cluster: Pods) -> None:
    until(lambda: cluster.client.call("GET", JOBS).status, lambda status: status == 200, POD_S)
    cluster.post(JOBS, pytorchjob(cluster.shared_path))
    checkpoint, end = cluster.shared / "step.json", cluster.shared / "end"
    until(lambda: checkpoint.exists() and json.loads(checkpoint.read_text())["step"], lambda step: step and step > 5, POD_S)
    lost = cluster.pod("fsdp-worker-0")["spec"]["nodeName"]

    cluster.world.sagemaker.batch_replace_cluster_nodes(ClusterName="ml", NodeIds=[lost.removeprefix("hyperpod-")])

    until(lambda: states(cluster), lambda seen: seen[-2:] == ["Created", "Running"] and "Restarting" in seen, POD_S)
    assert lost not in {cluster.pod(name)["spec"]["nodeName"] for name in ("fsdp-master-0", "fsdp-worker-0")}
    end.touch()
    until(lambda: states(cluster), lambda seen: seen[-1] == "Succeeded", POD_S)
    first, last = (int(line.split()[-1]) for line in cluster.output("fsdp-master-0").splitlines())
    assert last > first > 5
    assert cluster.get(f"{JOBS}/fsdp")["status"]["restartCount"] >= 1
