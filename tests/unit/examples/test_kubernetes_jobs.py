"""The jobs of examples/jobs/kubernetes fit the clusters, teams and training of the other examples."""

import re
from typing import Any

import pytest
import yaml

from cluster_request.kubernetes_objects.shared_file_system import SharedFileSystem
from cluster_request.kubernetes_objects.team_objects import team_roles
from config.instance_types import instance_type
from config.model import ClusterConfig
from tests import cluster_files

Json = dict[str, Any]
FOLDER = cluster_files.EXAMPLES.parent / "jobs" / "kubernetes"
FSDP = FOLDER.parent / "fsdp"
README = (FOLDER / "README.md").read_text()
JOBS: dict[str, Json] = {path.stem: yaml.safe_load(path.read_text()) for path in sorted(FOLDER.glob("*.yaml"))}
CLUSTERS = {"pytorchjob": "eks", "hyperpodpytorchjob": "eks", "queued": "eks-p5"}
each_job = pytest.mark.parametrize("name", JOBS)


def cluster_of(name: str) -> ClusterConfig:
    """The cluster file that a job fits."""
    content = yaml.safe_load((cluster_files.EXAMPLES / f"{CLUSTERS[name]}.yaml").read_text())
    return ClusterConfig.model_validate({**content, "name": CLUSTERS[name]})


def replicas_of(name: str) -> list[Json]:
    """The kinds of pods of a job."""
    spec = JOBS[name]["spec"]
    return list(spec["pytorchReplicaSpecs"].values()) if "pytorchReplicaSpecs" in spec else spec["replicaSpecs"]


def pods_of(name: str) -> list[Json]:
    return [replica["template"]["spec"] for replica in replicas_of(name)]


def command_of(pod: Json) -> dict[str, str]:
    """The options of a pod's command, and what stands between them."""
    [container] = pod["containers"]
    words = [*container["command"], *container["args"]]
    return {word.partition("=")[0]: word.partition("=")[2] for word in words}


def test_every_job_is_described() -> None:
    assert {f"`{name}.yaml`" for name in JOBS} == set(re.findall(r"^\| (`\w+\.yaml`) \|", README, re.MULTILINE))
    assert JOBS.keys() == CLUSTERS.keys()


@each_job
def test_a_job_is_in_the_namespace_of_a_team_that_may_create_it(name: str) -> None:
    eks = cluster_of(name).eks
    assert eks
    [team] = [team for team in eks.teams if team.namespace == JOBS[name]["metadata"]["namespace"]]
    rules = [each for item in team_roles([team]) if item["kind"] == "ClusterRole" for each in item["rules"]]
    group, plural = JOBS[name]["apiVersion"].partition("/")[0], f"{JOBS[name]['kind'].lower()}s"
    assert [each for each in rules if plural in each["resources"] and group in each["apiGroups"] and "create" in each["verbs"]]
    assert [each for each in rules if "configmaps" in each["resources"] and "create" in each["verbs"]]


@each_job
def test_all_pods_use_the_claim_healthy_nodes_and_the_training(name: str) -> None:
    claim = SharedFileSystem("fs-0123456789abcdef0", "", "").claim_name
    for pod in pods_of(name):
        assert pod["nodeSelector"] == {"sagemaker.amazonaws.com/node-health-status": "Schedulable"}
        claims = [each["persistentVolumeClaim"]["claimName"] for each in pod["volumes"] if "persistentVolumeClaim" in each]
        assert claims == [claim]
        [container] = pod["containers"]
        mounts = {each["name"]: each["mountPath"] for each in container["volumeMounts"]}
        assert mounts.keys() == {each["name"] for each in pod["volumes"]}
        assert (mounts["fsx"], mounts["code"], container["workingDir"]) == ("/fsx", "/code", "/code")
    assert claim in README
    assert "create configmap fsdp-code --from-file=../fsdp\n" in README
    assert all(path.stat().st_size < 100_000 for path in FSDP.iterdir()), "a ConfigMap has at most 1 MiB"


@each_job
def test_the_options_are_those_of_the_training(name: str) -> None:
    known = set(re.findall(r'add_argument\("(--[a-z-]+)"', (FSDP / "train.py").read_text()))
    for pod in pods_of(name):
        words = pod["containers"][0]["args"]
        own = [word.partition("=")[0] for word in words[words.index("train.py") + 1 :]]
        assert own
        assert set(own) <= known
        assert command_of(pod)["--checkpoints"].startswith("/fsx/")


@each_job
def test_nodes_gpus_and_processes_agree_and_fit_the_cluster(name: str) -> None:
    nodes = sum(replica["replicas"] for replica in replicas_of(name))
    groups = [group for group in cluster_of(name).instance_groups if (known := instance_type(group.instance_type)) and known.gpus]
    [group] = groups
    hardware = instance_type(group.instance_type)
    assert hardware
    assert nodes <= group.instance_count
    for pod in pods_of(name):
        options, limits = command_of(pod), pod["containers"][0]["resources"]["limits"]
        assert (int(options["--nnodes"]), int(options["--nproc-per-node"])) == (nodes, hardware.gpus)
        assert limits["nvidia.com/gpu"] == hardware.gpus
        assert limits.get("vpc.amazonaws.com/efa", 0) == hardware.efa_interfaces
    assert len({tuple(command_of(pod).items()) for pod in pods_of(name)}) == 1


@pytest.mark.parametrize("name", ["pytorchjob", "queued"])
def test_a_pytorchjob_asks_for_auto_resume_and_meets_at_its_first_pod(name: str) -> None:
    job = JOBS[name]
    assert (job["apiVersion"], job["kind"]) == ("kubeflow.org/v1", "PyTorchJob")
    assert job["metadata"]["annotations"] == {
        "sagemaker.amazonaws.com/enable-job-auto-resume": "true",
        "sagemaker.amazonaws.com/job-max-retry-count": "2",
    }
    assert {replica["restartPolicy"] for replica in replicas_of(name)} == {"OnFailure"}
    [host] = {command_of(pod)["--rdzv-endpoint"].partition(":")[0] for pod in pods_of(name)}
    assert host == f"{job['metadata']['name']}-master-0"
    # The operator recognizes the container by this name.
    assert {pod["containers"][0]["name"] for pod in pods_of(name)} == {"pytorch"}


def test_a_hyperpodpytorchjob_has_a_run_policy() -> None:
    job = JOBS["hyperpodpytorchjob"]
    assert (job["apiVersion"], job["kind"]) == ("sagemaker.amazonaws.com/v1", "HyperPodPyTorchJob")
    assert job["spec"]["runPolicy"]["jobMaxRetryCount"] == 2
    [pod] = pods_of("hyperpodpytorchjob")
    assert job["spec"]["nprocPerNode"] == command_of(pod)["--nproc-per-node"]
    assert "hyperpodrun" in command_of(pod)


def test_the_queue_and_the_priority_are_those_of_the_team() -> None:
    job, eks = JOBS["queued"], cluster_of("queued").eks
    assert eks
    assert eks.scheduling
    labels = job["metadata"]["labels"]
    assert labels["kueue.x-k8s.io/queue-name"] == f"{job['metadata']['namespace']}-localqueue"
    priorities = [f"{each.name}-priority" for each in eks.scheduling.priority_classes]
    assert labels["kueue.x-k8s.io/priority-class"] in priorities
    [team] = [team for team in eks.teams if team.namespace == job["metadata"]["namespace"]]
    assert team.quota
    assert sum(replica["replicas"] for replica in replicas_of("queued")) <= sum(each.count or 0 for each in team.quota.resources)
