"""The inputs of task governance: what the file says, in the words of SageMaker."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from cluster_request.quotas import compute_quotas, has_task_governance, quota_name, quota_problems, scheduler_config
from config.model import ClusterConfig, model_of
from stacks.clusters_app import PROJECT

Json = dict[str, Any]
P5 = "ml.p5.48xlarge"


def config_of(teams: list[Json], **eks: Any) -> ClusterConfig:
    content = yaml.safe_load((Path(PROJECT) / "examples/clusters/eks.yaml").read_text())
    content["eks"] |= {"teams": teams, **eks}
    return model_of(content).model_validate({"name": "research", **content})


def team(**quota: Any) -> Json:
    return {"name": "vision", "quota": quota}


def test_a_quota_has_every_field_of_the_file() -> None:
    resources = [{"instance_type": P5, "count": 2}, {"instance_type": "ml.c5.xlarge", "vcpus": 4.5, "memory_gib": 16}]
    sharing = {"sharing": "Lend", "borrow_limit_percent": 75, "preemption": "Never", "fair_share_weight": 40}
    [quota] = compute_quotas(config_of([team(resources=resources, **sharing)]))
    assert quota == {
        "Name": "research-vision",
        "ComputeQuotaConfig": {
            "ComputeQuotaResources": [
                {"InstanceType": P5, "Count": 2},
                {"InstanceType": "ml.c5.xlarge", "VCpu": 4.5, "MemoryInGiB": 16},
            ],
            "ResourceSharingConfig": {"Strategy": "Lend", "BorrowLimit": 75},
            "PreemptTeamTasks": "Never",
        },
        "ComputeQuotaTarget": {"TeamName": "vision", "FairShareWeight": 40},
    }


def test_a_quota_without_fields_has_the_defaults() -> None:
    [quota] = compute_quotas(config_of([{"name": "guests"}, team()]))
    assert quota["ComputeQuotaConfig"] == {
        "ComputeQuotaResources": [],
        "ResourceSharingConfig": {"Strategy": "LendAndBorrow"},
        "PreemptTeamTasks": "LowerPriority",
    }


@pytest.mark.parametrize("shared", [None, True, False])
def test_the_scheduling_becomes_one_input(shared: bool | None) -> None:
    classes = [{"name": "training", "weight": 80}, {"name": "idle", "weight": 0}]
    scheduling = {"priority_classes": classes, "fair_share": False, "idle_resource_sharing": shared}
    idle = {} if shared is None else {"IdleResourceSharing": "Enabled" if shared else "Disabled"}
    assert scheduler_config(config_of([], scheduling=scheduling)) == {
        "Name": "research",
        "SchedulerConfig": {
            "PriorityClasses": [{"Name": "training", "Weight": 80}, {"Name": "idle", "Weight": 0}],
            "FairShare": "Disabled",
            **idle,
        },
    }


def test_without_scheduling_and_quotas_there_is_no_task_governance() -> None:
    config = config_of([{"name": "guests"}])
    assert config.eks
    assert (compute_quotas(config), scheduler_config(config), has_task_governance(config.eks)) == ([], None, False)
    for other in (config_of([team()]), config_of([], scheduling={})):
        assert other.eks
        assert has_task_governance(other.eks)


@pytest.mark.parametrize("length", [1, 40])
def test_a_name_fits_and_stays_unique_by_its_team(length: int) -> None:
    long = quota_name("a" * 62 + "-", "t" * length)
    assert len(long) <= 63
    assert long.endswith(f"-{'t' * length}")
    assert quota_name("research", "vision") == "research-vision"


def test_inputs_that_sagemaker_accepts_have_no_problems() -> None:
    scheduling = {"priority_classes": [{"name": "training", "weight": 80}]}
    assert quota_problems(config_of([team(resources=[{"instance_type": P5, "count": 2}])], scheduling=scheduling)) == []


def test_a_problem_names_the_field_of_the_file() -> None:
    [problem] = quota_problems(config_of([{"name": "guests"}, team(resources=[{"instance_type": "ml.p5.49xlarge", "count": 2}])]))
    assert problem.path == ("eks", "teams", 1, "quota", "resources", 0, "instance_type")
    assert "unknown value" in problem.message
