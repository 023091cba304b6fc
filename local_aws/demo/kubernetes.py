"""The demo of a cluster on Amazon EKS: its nodes in Kubernetes, and a training with PyTorch on them."""

import json
from collections.abc import Iterator
from functools import partial
from typing import Any

import yaml

from config.instance_group import InstanceGroup
from config.instance_types import instance_type
from config.model import ClusterConfig
from local_aws import process
from local_aws.builds.errors import HostError
from local_aws.demo.step import DemoError, Environment, Goal, Say, Step, output, relative, wait_for
from local_aws.environment import PROJECT
from local_aws.kubernetes import support as planes
from local_aws.kubernetes.errors import KubernetesError
from local_aws.kubernetes.programs import build, store
from local_aws.nodes import setup, support
from local_aws.nodes.image import store as images

NODES_WITHIN_S = 120.0
PODS_S, TRAINING_S = 90, 300
STEPS = 50
EXAMPLES = PROJECT / "examples" / "jobs"
_KUBECTL = ("python", "-m", "local_aws", "kubectl")
_LABELS = ("instance-group-name", "node-health-status")
_FIRST = "Kubernetes is built once, from Debian's source package: 3 to 15 minutes, 150 MB of downloads, 3 GB of disk meanwhile"
NOTE = "Kubernetes is 1.20, whatever `eks.version` is, and the pods of most add-ons only sleep."
Json = dict[str, Any]


def prepare(say: Say) -> bool:
    """Build Kubernetes and the nodes' image if they are not cached; if no kubelet can run here, say why and return false."""
    if planes.missing():
        say(f"{_FIRST}; it is kept in {store.place()}")
        try:
            build.build(store.CONTROL_PLANE, say)
        except KubernetesError as error:
            raise DemoError(f"a cluster on EKS needs a Kubernetes control plane, which cannot be built here: {error}") from error
    reasons = support.missing_of_machine()
    if not reasons and not _is_built():
        try:
            setup.setup(say, training=True, pods=True)
        except HostError as error:
            reasons = [str(error)]
    if reasons:
        say(f"no kubelets, only a control plane: {'; '.join(reasons)}; nodes are only objects in Kubernetes, so no pod runs")
    return not reasons


def _is_built() -> bool:
    built = not support.missing() and not support.missing_for_pods()
    return built and images.training_layer(support.image()).is_dir()


def first_steps(config: ClusterConfig, *, nodes: bool) -> tuple[Step, ...]:
    """Return the first commands of a new user: look at nodes and dependencies, and train with PyTorch where kubelets run."""
    columns = ",".join(f"sagemaker.amazonaws.com/{label}" for label in _LABELS)
    count = sum(group.instance_count for group in config.instance_groups)
    shown = (
        Step(
            f"kubectl: the nodes, {'with real kubelets' if nodes else 'without kubelets'}, and HyperPod's labels",
            (*_KUBECTL, "get", "nodes", f"--label-columns={columns}"),
            before=partial(_wait_for_ready, count),
        ),
        Step(
            "kubectl: the dependencies that the deployment applied",
            (*_KUBECTL, "get", "daemonsets", "--all-namespaces"),
            before=_wait_for_pods if nodes else None,
        ),
    )
    return (*shown, *_training(config)) if nodes else shown


def _training(config: ClusterConfig) -> Iterator[Step]:
    """Yield the steps of a training; none if the file has no team, no file system or no nodes for it."""
    group = next((each for each in config.instance_groups if each.instance_count and not each.taints), None)
    team = next(iter(config.eks.teams), None) if config.eks else None
    if group is None or team is None or config.storage.lustre is None:
        return
    namespace, file = team.namespace, process.home() / "pytorchjob.yaml"
    space = f"--namespace={namespace}"

    def write(environment: Environment) -> None:
        file.write_text(yaml.safe_dump(training_job(group, namespace, _claim(space, environment)), sort_keys=False))

    def kubectl(title: str, *words: str, **more: Any) -> Step:
        return Step(title, (*_KUBECTL, *words, space), **more)

    yield kubectl(
        "kubectl: the code of the training", "create", "configmap", "fsdp-code", f"--from-file={relative(EXAMPLES)}/fsdp"
    )
    yield kubectl(
        f"kubectl: examples/jobs/kubernetes/pytorchjob.yaml on {group.instance_count} nodes, with a simulated operator",
        "apply",
        f"--filename={relative(file)}",
        before=write,
    )
    waiting = ("wait", "pytorchjob/fsdp", "--for=condition=Succeeded", f"--timeout={TRAINING_S}s")
    yield kubectl("kubectl: wait for the end of the training", *waiting)
    yield kubectl("kubectl: the pods", "get", "pods", "--output=wide")
    yield kubectl("kubectl: the output of rank 0", "logs", "fsdp-master-0")


def training_job(group: InstanceGroup, namespace: str, claim: str) -> Json:
    """Return the example job for a group and a team, with the image that simulated nodes have."""
    job: Json = yaml.safe_load((EXAMPLES / "kubernetes" / "pytorchjob.yaml").read_text())
    job["metadata"]["namespace"] = namespace
    replicas = job["spec"]["pytorchReplicaSpecs"]
    body = replicas["Master"]["template"]["spec"]
    body["nodeSelector"]["sagemaker.amazonaws.com/instance-group-name"] = group.name
    [container] = body["containers"]
    # The operator gives each pod its rank. Debian's PyTorch has no libuv, which torchrun requires.
    container |= {"image": "localhost/pytorch:1", "command": ["python3"]}
    container["args"] = ["train.py", "--checkpoints=/fsx/fsdp", f"--steps={STEPS}", "--report-every=10"]
    container["env"] += [{"name": "USE_LIBUV", "value": "0"}, {"name": "OMP_NUM_THREADS", "value": "1"}]
    facts = instance_type(group.instance_type or "")
    container["resources"] = {"limits": {"nvidia.com/gpu": facts.gpus}} if facts and facts.gpus else {}
    for volume in body["volumes"]:
        if volume["name"] == "fsx":
            volume["persistentVolumeClaim"]["claimName"] = claim
    replicas["Worker"] |= {"replicas": group.instance_count - 1, "template": {"spec": body}}
    return job


def _claim(space: str, environment: Environment) -> str:
    """Return the name of the claim of a team's namespace."""
    [name, *_] = (output((*_KUBECTL, "get", "persistentvolumeclaims", space, "--output=name"), environment) or "").split() or [""]
    if not name:
        raise DemoError(f"no volume claim; see `python -m local_aws kubectl get persistentvolumeclaims {space}`")
    return name.rpartition("/")[2]


def next_commands(config: ClusterConfig, cluster: str, *, nodes: bool) -> list[str]:
    """Return commands to try on the cluster."""
    command = f"./hpod run {cluster} {config.instance_groups[0].name} -- uptime   # a command on the nodes of a group"
    kubectl = "python -m local_aws kubectl get pods --all-namespaces   # kubectl as an administrator"
    return [f"./hpod nodes {cluster}   # the names of nodes, for ssh, run and drain", *([command] if nodes else []), kubectl]


def _wait_for_pods(environment: Environment) -> None:
    """Wait for the pods of the dependencies; the next step shows those that are not ready."""
    output((*_KUBECTL, "wait", "pods", "--all", "--all-namespaces", "--for=condition=Ready", f"--timeout={PODS_S}s"), environment)


def _wait_for_ready(count: int, environment: Environment) -> None:
    goal = Goal(count, "nodes", "Ready", "in Kubernetes", "kubectl describe nodes")
    wait_for(goal, partial(_ready_nodes, environment), NODES_WITHIN_S)


def _ready_nodes(environment: Environment) -> set[str]:
    """Return the nodes that are Ready in Kubernetes; none while it does not respond."""
    found = json.loads(output((*_KUBECTL, "get", "nodes", "--output=json"), environment) or "{}")
    return {
        node["metadata"]["name"]
        for node in found.get("items", ())
        for condition in node["status"].get("conditions", ())
        if condition["type"] == "Ready" and condition["status"] == "True"
    }
