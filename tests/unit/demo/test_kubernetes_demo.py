"""What the demo does for a cluster on Amazon EKS, with and without kubelets, and what it builds first."""

from typing import Any

import pytest
import yaml

from config.model import ClusterConfig
from local_aws import demo, kubectl_command, process
from local_aws.builds.errors import HostError
from local_aws.demo import kubernetes, slurm
from local_aws.demo.step import DemoError
from local_aws.kubernetes import support as planes
from local_aws.kubernetes.errors import KubernetesError
from local_aws.kubernetes.programs import build
from local_aws.nodes import setup, support
from tests.cluster_files import PROJECT
from validation.load import parse_cluster

EXAMPLE = PROJECT / "examples/clusters/eks.yaml"


def parsed(**changes: Any) -> ClusterConfig:
    content: Any = yaml.safe_load(EXAMPLE.read_text())
    config = parse_cluster(yaml.safe_dump(content | changes).encode(), "eks")
    assert isinstance(config, ClusterConfig)
    return config


def kubectl(config: ClusterConfig, *, nodes: bool) -> list[str]:
    """Return the demo's kubectl commands, without their options."""
    commands = [step.command[4:] for step in kubernetes.first_steps(config, nodes=nodes)]
    return [" ".join(word for word in command if not word.startswith("--")) for command in commands]


def lacking(monkeypatch: pytest.MonkeyPatch, *, plane: list[str], machine: list[str], layers: list[str]) -> list[str]:
    """Fake what this machine lacks, and return the list of what is then built."""
    built: list[str] = []
    monkeypatch.setattr(planes, "missing", lambda: plane)
    monkeypatch.setattr(build, "build", lambda programs, _: built.append(programs.name))
    monkeypatch.setattr(support, "missing_of_machine", lambda: machine)
    monkeypatch.setattr(kubernetes, "_is_built", lambda: not layers)
    monkeypatch.setattr(setup, "setup", lambda _, **layers: built.extend(name for name, is_used in layers.items() if is_used))
    return built


def test_the_demo_takes_the_path_of_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(PROJECT)
    assert demo.chosen("examples/clusters/eks.yaml") == (EXAMPLE.parent, "eks")
    with pytest.raises(DemoError, match=r"^examples/clusters/no\.yaml: no such file$"):
        demo.chosen("examples/clusters/no.yaml")


def test_with_kubelets_a_job_trains_after_the_nodes_and_the_dependencies_are_shown() -> None:
    assert kubectl(parsed(), nodes=True) == [
        "get nodes",
        "get daemonsets",
        "create configmap fsdp-code",
        "apply",
        "wait pytorchjob/fsdp",
        "get pods",
        "logs fsdp-master-0",
    ]


def test_without_kubelets_only_the_control_plane_is_shown() -> None:
    assert kubectl(parsed(), nodes=False) == ["get nodes", "get daemonsets"]


@pytest.mark.parametrize("changes", [{"eks": {"version": "1.34"}}, {"storage": {}}])
def test_a_file_without_a_team_or_a_file_system_gets_no_job(changes: dict[str, Any]) -> None:
    assert kubectl(parsed(**changes), nodes=True) == ["get nodes", "get daemonsets"]


def test_the_job_is_the_example_on_all_nodes_of_the_group_with_their_gpus() -> None:
    [group] = parsed().instance_groups
    job = kubernetes.training_job(group.model_copy(update={"instance_count": 3}), "hyperpod-ns-a", "fsx-fs-1")
    master, worker = (job["spec"]["pytorchReplicaSpecs"][role] for role in ("Master", "Worker"))
    assert (master["replicas"], worker["replicas"]) == (1, 2)
    assert master["template"] == worker["template"]
    body = master["template"]["spec"]
    assert body["containers"][0]["resources"] == {"limits": {"nvidia.com/gpu": 1}}
    assert {"name": "fsx", "persistentVolumeClaim": {"claimName": "fsx-fs-1"}} in body["volumes"]
    assert body["nodeSelector"]["sagemaker.amazonaws.com/instance-group-name"] == "workers"
    example = yaml.safe_load((PROJECT / "examples/jobs/kubernetes/pytorchjob.yaml").read_text())
    assert job["metadata"]["annotations"] == example["metadata"]["annotations"]


def test_nothing_is_built_that_is_cached(monkeypatch: pytest.MonkeyPatch) -> None:
    built, said = lacking(monkeypatch, plane=[], machine=[], layers=[]), list[str]()
    assert kubernetes.prepare(said.append)
    assert (built, said) == ([], [])


def test_the_first_run_says_how_long_it_builds_and_where_the_result_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    built, said = lacking(monkeypatch, plane=["not built"], machine=[], layers=["kubelet"]), list[str]()
    assert kubernetes.prepare(said.append)
    assert built == ["control-plane", "training", "pods"]
    assert "built once" in said[0]
    assert "3 to 15 minutes" in said[0]
    assert "hyperpod-cdk/kubernetes" in said[0]


def test_without_root_the_demo_says_why_no_kubelet_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    built, said = lacking(monkeypatch, plane=[], machine=["nodes need root"], layers=["kubelet"]), list[str]()
    assert not kubernetes.prepare(said.append)
    assert built == []
    assert said == ["no kubelets, only a control plane: nodes need root; nodes are only objects in Kubernetes, so no pod runs"]


def test_a_kubelet_that_cannot_be_built_leaves_the_control_plane(monkeypatch: pytest.MonkeyPatch) -> None:
    lacking(monkeypatch, plane=[], machine=[], layers=["kubelet"])
    said: list[str] = []

    def fail(*_: object, **__: object) -> None:
        raise HostError("no apt-get on this machine")

    monkeypatch.setattr(setup, "setup", fail)
    assert not kubernetes.prepare(said.append)
    assert said[0].startswith("no kubelets, only a control plane: no apt-get on this machine; ")


def test_without_a_control_plane_there_is_no_demo(monkeypatch: pytest.MonkeyPatch) -> None:
    lacking(monkeypatch, plane=["not built"], machine=[], layers=[])

    def fail(*_: object) -> None:
        raise KubernetesError("no reachable apt source offers Debian bookworm")

    monkeypatch.setattr(build, "build", fail)
    with pytest.raises(DemoError, match="needs a Kubernetes control plane, which cannot be built here: no reachable apt source"):
        kubernetes.prepare(lambda _: None)


def test_slurm_builds_nothing_of_kubernetes(monkeypatch: pytest.MonkeyPatch) -> None:
    built = lacking(monkeypatch, plane=["not built"], machine=[], layers=["kubelet"])
    assert slurm.prepare(lambda _: None)
    assert built == []


def test_kubectl_uses_the_only_cluster_or_the_named_one() -> None:
    assert kubectl_command.choose({"a": "/a"}, None) == "/a"
    assert kubectl_command.choose({"a": "/a", "b": "/b"}, "b") == "/b"


@pytest.mark.parametrize(
    ("running", "name", "message"),
    [
        ({}, None, "no EKS cluster is running; deploy one first"),
        ({"a": "/a", "b": "/b"}, None, "several EKS clusters are running; pass --cluster with one of a, b"),
        ({"a": "/a"}, "c", "unknown EKS cluster 'c'; available: a"),
    ],
)
def test_kubectl_says_which_clusters_there_are(running: dict[str, str], name: str | None, message: str) -> None:
    with pytest.raises(process.ProcessError, match=f"^{message}$"):
        kubectl_command.choose(running, name)


def test_kubectl_is_a_next_step() -> None:
    shown = demo.next_steps(parsed(), EXAMPLE.read_text(), 1.0, nodes=False, folder=EXAMPLE.parent)
    assert "an EKS cluster without simulated nodes" in shown
    assert "local_aws kubectl get pods" in shown
    assert "Kubernetes is 1.20, whatever `eks.version` is" in shown
    assert "undo it with `git restore examples/clusters/eks.yaml`" in shown
    assert "./hpod run" not in shown
    assert "local_aws env --role PlatformAdmin)" in shown
    shown = demo.next_steps(parsed(), EXAMPLE.read_text(), 1.0, nodes=True, folder=EXAMPLE.parent)
    assert "./hpod run eks --clusters examples/clusters workers -- uptime" in shown
