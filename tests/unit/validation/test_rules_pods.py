"""Places for pods: what AWS's nodes can run, and what HyperPod's objects and add-ons take of it."""

from fnmatch import fnmatchcase
from typing import Any

import pytest
import yaml

from cluster_request.request import merged
from config.errors import Problem
from config.instance_types import instance_type
from tests.cluster_files import PROJECT
from tests.unit.validation.test_shipped_files import written
from validation.checked_file import check_source

RULES = {"pod-capacity", "pod-capacity-for-jobs"}
FILE: dict[str, Any] = {
    "region": "us-west-2",
    "network": {"availability_zone_id": "usw2-az2"},
    "eks": {"version": "1.34", "admins": ["arn:aws:iam::123456789012:role/PlatformAdmin"]},
}
LUSTRE: dict[str, Any] = {"storage": {"lustre": {}}}
TAINTS = {"KubernetesConfig": {"Taints": [{"Key": "dedicated", "Value": "train", "Effect": "NoSchedule"}]}}


def nodes(type_name: str, count: int, **more: Any) -> dict[str, Any]:
    return {"name": f"group-{count}", "instance_type": type_name, "instance_count": count, **more}


def found(*groups: dict[str, Any], **more: Any) -> list[Problem]:
    source = yaml.safe_dump({**FILE, "instance_groups": list(groups), **more}).encode()
    problems = [each for each in check_source(source, "eks", PROJECT).problems if each.rule != "known-instance-type"]
    assert not [each for each in problems if each.level == "error" and each.rule not in RULES], problems
    return [each for each in problems if each.rule in RULES]


# "Pods per instance type" of sagemaker-hyperpod-eks-prerequisites.html.
@pytest.mark.parametrize(
    ("name", "pods"),
    [
        *[("ml.t3.medium", 5), ("ml.m5.large", 9), ("ml.g5.xlarge", 14), ("ml.g5.2xlarge", 14), ("ml.m5.2xlarge", 14)],
        *[("ml.g5.8xlarge", 29), ("ml.g5.12xlarge", 49), ("ml.p5.48xlarge", 49)],
    ],
)
def test_a_node_runs_as_many_pods_as_aws_says(name: str, pods: int) -> None:
    known = instance_type(name)
    assert known is not None
    assert known.pods == pods


@pytest.mark.parametrize(
    ("groups", "more", "rule", "place", "said"),
    [
        (
            *([nodes("ml.g5.xlarge", 2)], LUSTRE, "pod-capacity", 0),
            "nodes can run 28 pods, 10 of them beside DaemonSets: group-2 2 x (14 - 9), but add-ons have 11 other pods; use a "
            "larger type, e.g. ml.g5.4xlarge, or more nodes",
        ),
        ([nodes("ml.g5.2xlarge", 1)], {}, "pod-capacity", 0, "*1 x (14 - 8), but add-ons have 9 other pods*"),
        (
            *([nodes("ml.g5.xlarge", 3)], LUSTRE, "pod-capacity-for-jobs", 0),  # 15 - 11
            "*add-ons have 11 other pods: 4 places are left for jobs*",
        ),
        (
            *([nodes("ml.g5.8xlarge", 2), nodes("ml.t3.medium", 0)], LUSTRE, "pod-capacity", 1),
            "a node can run 5 pods, but DaemonSets have 6 on it; use a larger type, e.g. ml.t3.large",
        ),
    ],
)
def test_small_nodes_do_not_run_all_addons_and_jobs(groups: Any, more: Any, rule: str, place: int, said: str) -> None:
    [problem] = found(*groups, **more)
    assert (problem.rule, problem.path) == (rule, ("instance_groups", place, "instance_type"))
    assert problem.level == ("error" if rule == "pod-capacity" else "warning")
    assert fnmatchcase(f"{problem.message}; {problem.fix}", said)


def test_larger_or_more_nodes_have_places_for_jobs() -> None:
    assert found(nodes("ml.g5.xlarge", 5), **LUSTRE) == found(nodes("ml.g5.4xlarge", 2), **LUSTRE) == []


def test_addons_need_places_on_nodes_whose_taints_and_labels_they_accept() -> None:
    small, large = nodes("ml.m5.large", 1), nodes("ml.p5.48xlarge", 4)
    assert found(small, large) == []
    tainted = {**large, "taints": [{"key": "dedicated", "value": "train", "effect": "NoSchedule"}]}
    for each in (tainted, {**large, "overrides": TAINTS}):
        assert found(small, each) == []  # the deployment lets most add-ons tolerate it
    only = {"coredns": {"configuration": {"nodeSelector": {"pool": "system"}, "replicaCount": 12}}}
    chosen = {**FILE["eks"], "addons": only}
    labels = {"KubernetesConfig": {"Labels": {"pool": "system"}}}
    [problem] = found({**small, "overrides": labels}, large, eks=chosen)
    assert "group-1 1 x (9 - 5), but add-ons have 12 other pods" in problem.message
    assert found(small, {**large, "overrides": labels}, eks=chosen) == []


def test_addons_that_are_off_take_no_place() -> None:
    off = {name: {"enabled": False} for name in ("amazon-cloudwatch-observability", "metrics-server")}
    assert found(nodes("ml.g5.xlarge", 2), eks={**FILE["eks"], "addons": off}) == []


OFF = {"dcgmExporter": {"enabled": False}, "containerLogs": {"enabled": False}}


@pytest.mark.parametrize(
    ("addon", "configuration", "said"),
    [
        ("amazon-cloudwatch-observability", OFF, "1 x (14 - 6), but add-ons have 9"),
        ("metrics-server", {"replicas": 4}, "1 x (14 - 8), but add-ons have 11"),
        ("metrics-server", {"replicaCount": 4}, "1 x (14 - 8), but add-ons have 9"),  # not a setting of its chart
        ("coredns", {"replicaCount": -3}, "1 x (14 - 8), but add-ons have 7"),
        ("coredns", {"nodeSelector": {"kubernetes.io/os": "linux"}, "replicaCount": 5}, "1 x (14 - 8), but add-ons have 12"),
        ("coredns", {"nodeSelector": {"node.kubernetes.io/instance-type": "ml.g5.2xlarge"}}, "1 x (14 - 8), but add-ons have 9"),
    ],
)
def test_settings_of_addons_count(addon: str, configuration: dict[str, Any], said: str) -> None:
    [problem] = found(nodes("ml.g5.2xlarge", 1), eks={**FILE["eks"], "addons": {addon: {"configuration": configuration}}})
    assert f"{said} other pods" in problem.message


def test_an_unknown_type_is_not_counted() -> None:
    assert found(nodes("ml.g5.xlarge", 1), nodes("ml.p9.48xlarge", 4)) == []


ON_EKS = [place for place, text in written().items() if "\ninstance_groups:" in f"\n{text}" and "role:" not in text]

assert {"README.md 1", "docs/operate/eks.md 0", "clusters/eks.yaml", "clusters/eks-p5.yaml"} <= set(ON_EKS)


@pytest.mark.parametrize("place", ON_EKS)
def test_shipped_files_leave_room_for_jobs(place: str) -> None:
    source = yaml.safe_dump(merged(FILE, yaml.safe_load(written()[place]))).encode()
    problems = check_source(source, "eks", PROJECT).problems
    assert [str(each) for each in problems if each.rule in RULES or each.level == "error"] == []
