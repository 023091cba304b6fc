"""What the real `cdk diff` prints for a change of a quota, of a priority and of an object."""

import re
import subprocess
from pathlib import Path

import aws_cdk as cdk
import pytest

from cluster_request.kubernetes_objects.dependencies import object_properties
from cluster_request.request import Request
from constructs.hyperpod.kubernetes.compute_quotas import ComputeQuotas
from constructs.hyperpod.kubernetes.dependencies import Dependencies

ARN = "arn:aws:sagemaker:us-west-2:123456789012:cluster/abcdefghij12"


def assembly(folder: Path, *, count: int, weight: int, image: str, teams: tuple[str, ...]) -> Path:
    """A synthesized stack with quotas of teams, a scheduler config and two objects."""
    app = cdk.App(outdir=str(folder), analytics_reporting=False)
    stack = cdk.Stack(app, "Stack")
    classes = [{"Name": "training", "Weight": weight}]
    quotas = [quota(team, count if team == "vision" else 1) for team in teams]
    ComputeQuotas(
        stack,
        "Quotas",
        cluster_arn=ARN,
        eks_cluster_name="eks",
        quotas=quotas,
        scheduler={"Name": "eks", "SchedulerConfig": {"PriorityClasses": classes}},
        identity="1",
        tags={},
    )
    containers = [{"name": "plugin", "image": image}]
    daemon_set = {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "nvidia", "namespace": "kube-system"}}
    objects = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "aws-hyperpod"}},
        {**daemon_set, "spec": {"template": {"spec": {"containers": containers}}}},
    ]
    Dependencies(
        stack,
        "Dependencies",
        cluster_name="eks",
        objects=object_properties(objects),
        identity="1",
        placement=None,
        alarm_topic_arn=None,
    )
    app.synth()
    return folder


def quota(team: str, count: int) -> Request:
    """The quota of a team."""
    resources = [{"InstanceType": "ml.p5.48xlarge", "Count": count}]
    return {
        "Name": f"eks-{team}",
        "ComputeQuotaConfig": {"ComputeQuotaResources": resources},
        "ComputeQuotaTarget": {"TeamName": team, "FairShareWeight": 10},
    }


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The lines of `cdk diff`, without the frame of its tree."""
    old = assembly(tmp_path_factory.mktemp("old"), count=3, weight=90, image="plugin:1", teams=("vision", "speech"))
    new = assembly(tmp_path_factory.mktemp("new"), count=2, weight=80, image="plugin:2", teams=("vision", "speech", "robots"))
    template = str(old / "Stack.template.json")
    command = ("cdk", "diff", "Stack", "--app", str(new), "--template", template, "--no-change-set", "--no-color")
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True)
    return [re.sub(r"^[ │├└─]+", "", line) for line in done.stdout.splitlines()]


def below(lines: list[str], name: str) -> list[str]:
    """The lines of a property that show a change."""
    start = next(index for index, line in enumerate(lines) if line.endswith(f"] {name}")) + 1
    end = next((at for at in range(start, len(lines)) if re.fullmatch(r"\[[-+~]\] (\w+|Custom::.*)", lines[at])), len(lines))
    return [line for line in lines[start:end] if line.startswith(("[-]", "[+]", "[~]"))]


def test_a_changed_quota_shows_its_team_and_the_field(lines: list[str]) -> None:
    assert below(lines, "QuotaVision") == [
        "[~] .ComputeQuotaConfig:",
        "[~] .ComputeQuotaResources:",
        '[-]     "Count": "3"',
        '[+]     "Count": "2"',
    ]
    assert not [line for line in lines if "QuotaSpeech" in line]


def test_a_changed_priority_shows_its_class(lines: list[str]) -> None:
    changed = below(lines, "SchedulerConfig")
    assert changed[-2:] == ['[-]     "Weight": "90"', '[+]     "Weight": "80"']
    assert '[ ]     "Name": "training",' in lines


def test_a_changed_object_shows_its_name_and_the_field(lines: list[str]) -> None:
    assert below(lines, "ObjectDaemonSetKubeSystemNvidia")[-2:] == ['[-]     "image": "plugin:1"', '[+]     "image": "plugin:2"']
    assert not [line for line in lines if "ObjectNamespace" in line]


def test_a_new_quota_shows_its_content(lines: list[str]) -> None:
    [content] = [line for line in lines if "eks-robots" in line]
    assert '"ComputeQuotaResources":[{"InstanceType":"ml.p5.48xlarge","Count":"1"}]' in content
