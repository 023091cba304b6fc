"""The simulated operator's jobs: ranks, pods and services."""

from typing import Any

from local_aws.training_operator.jobs import HYPERPOD, PYTORCH, Job


def pytorch(annotations: dict[str, str] | None = None, **status: Any) -> Job:
    template = {"spec": {"containers": [{"name": "pytorch", "env": [{"name": "LEVEL", "value": "1"}]}]}}
    specs = {"Worker": {"replicas": 2, "template": template, "restartPolicy": "ExitCode"}, "Master": {"template": template}}
    metadata = {"name": "fsdp", "namespace": "team-a", "uid": "u", "annotations": annotations or {}}
    return Job(PYTORCH, {"metadata": metadata, "spec": {"pytorchReplicaSpecs": specs}, "status": status})


def hyperpod(retries: int = 0, **status: Any) -> Job:
    spec = {"replicaSpecs": [{"name": "Pods", "replicas": 2, "template": {"spec": {"containers": [{"name": "it"}]}}}]}
    run = {"runPolicy": {"jobMaxRetryCount": retries}}
    return Job(HYPERPOD, {"metadata": {"name": "fsdp", "namespace": "a", "uid": "u"}, "spec": spec | run, "status": status})


def env(job: Job, name: str) -> dict[str, str]:
    return {each["name"]: each["value"] for each in job.pods[name]["spec"]["containers"][0]["env"]}


def test_the_master_has_rank_0_and_all_find_it_by_its_name() -> None:
    job = pytorch()
    assert list(job.pods) == ["fsdp-master-0", "fsdp-worker-0", "fsdp-worker-1"]
    for rank, name in enumerate(job.pods):
        values = env(job, name)
        assert values == {
            "MASTER_ADDR": "fsdp-master-0",
            "MASTER_PORT": "23456",
            "WORLD_SIZE": "3",
            "RANK": str(rank),
            "LEVEL": "1",
        }


def test_the_service_selects_the_pod_of_rank_0_only() -> None:
    job = pytorch()
    service = job.service()
    assert service["metadata"]["name"] == "fsdp-master-0"
    selected = [
        name for name, pod in job.pods.items() if service["spec"]["selector"].items() <= pod["metadata"]["labels"].items()
    ]
    assert selected == ["fsdp-master-0"]


def test_restart_policies_are_those_that_pods_have() -> None:
    job = pytorch()
    policies = [pod["spec"]["restartPolicy"] for pod in job.pods.values()]
    assert policies == ["OnFailure", "Never", "Never"]


def test_pods_end_with_their_job() -> None:
    [owner] = hyperpod().pods["fsdp-pods-1"]["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["uid"], owner["controller"]) == ("HyperPodPyTorchJob", "u", True)


def test_a_job_is_restarted_as_often_as_its_annotations_say() -> None:
    own = "sagemaker.amazonaws.com/"
    assert pytorch().most_retries == 0
    assert pytorch({f"{own}job-max-retry-count": "2"}).most_retries == 0
    assert pytorch({f"{own}enable-job-auto-resume": "true"}).most_retries == 1
    assert pytorch({f"{own}enable-job-auto-resume": "true", f"{own}job-max-retry-count": "2"}).most_retries == 2
    assert hyperpod(retries=3).most_retries == 3
