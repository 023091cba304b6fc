"""A training that saves each step in a shared folder, as a job of two nodes."""

from typing import Any

from tests.kubernetes_nodes.pods import PYTORCH

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


def pytorchjob(name: str, folder: str) -> dict[str, Any]:
    """A PyTorchJob with auto-resume."""
    replica = {"replicas": 1, "restartPolicy": "OnFailure", "template": _template(folder)}
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": name, "annotations": AUTO_RESUME},
        "spec": {"pytorchReplicaSpecs": {"Master": replica, "Worker": replica}},
    }


def hyperpodpytorchjob(name: str, folder: str) -> dict[str, Any]:
    """A HyperPodPyTorchJob."""
    return {
        "apiVersion": "sagemaker.amazonaws.com/v1",
        "kind": "HyperPodPyTorchJob",
        "metadata": {"name": name},
        "spec": {
            "runPolicy": {"jobMaxRetryCount": 2},
            "replicaSpecs": [{"name": "pods", "replicas": 2, "template": _template(folder)}],
        },
    }


def _template(folder: str) -> dict[str, Any]:
    container = {
        "name": "pytorch",
        "image": PYTORCH,
        "command": ["python3", "-c", TRAIN],
        "env": [{"name": "USE_LIBUV", "value": "0"}],
        "resources": {"limits": {"nvidia.com/gpu": "1"}},
        "volumeMounts": [{"name": "shared", "mountPath": "/checkpoints"}],
    }
    volumes = [{"name": "shared", "hostPath": {"path": folder}}]
    return {"spec": {"nodeSelector": HEALTHY, "containers": [container], "volumes": volumes}}
