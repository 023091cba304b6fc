"""Rendering a chart with a real helm, and what Helm's errors become."""

import base64
import json
import lzma
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cluster_request.helm_chart import program
from cluster_request.helm_chart.chart import random_objects, rendered
from cluster_request.helm_chart.program import HelmError
from cluster_request.kubernetes_objects.dependencies import dependencies, object_properties, objects_of
from cluster_resource.errors import PropertyError
from config.eks import EksConfig, HelmChart
from config.model import ClusterConfig
from kubernetes_resource.objects import Desired
from tests.helm import path_with_helm
from tests.unit.cluster_request.kubernetes_objects.eks_file import FILE_SYSTEM, eks_file

CHARTS = Path(__file__).parents[3] / "data" / "charts"
GOLDEN = CHARTS / "hyperpod.json"
"""The objects of the chart with Kubernetes 1.34, as `helm template` of the pinned package rendered them."""


@pytest.fixture
def helm() -> Iterator[None]:
    with path_with_helm():
        yield


@pytest.fixture
def chart(tmp_path: Path) -> Path:
    """Return a copy of the chart."""
    return Path(shutil.copytree(CHARTS / "hyperpod", tmp_path / "hyperpod"))


def section(folder: Path, **values: Any) -> EksConfig:
    return EksConfig(version="1.34", helm_chart=HelmChart(folder=folder, values=values))


def file(folder: Path, *teams: str) -> ClusterConfig:
    base = eks_file(*teams)
    assert base.eks
    return base.model_copy(update={"eks": base.eks.model_copy(update={"helm_chart": HelmChart(folder=folder)})})


def fake_helm(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Put a helm that runs this script first on the PATH."""
    (folder / "helm").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "helm").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


@pytest.mark.usefixtures("helm")
def test_the_objects_are_those_that_helm_would_install() -> None:
    chart = rendered(section(CHARTS / "hyperpod"))
    assert chart
    assert not chart.hooks
    assert list(chart.objects) == json.loads(GOLDEN.read_text())


@pytest.mark.usefixtures("helm")
def test_they_replace_our_own_and_not_those_of_the_teams(chart: Path) -> None:
    objects = objects_of(file(chart, "vision"), region="us-east-2", file_system=FILE_SYSTEM)
    own = objects_of(eks_file("vision"), region="us-east-2", file_system=FILE_SYSTEM)[len(dependencies("us-east-2")) :]
    assert objects[-len(own) :] == own
    assert len(objects) == len(json.loads(GOLDEN.read_text())) + len(own)


@pytest.mark.usefixtures("helm")
def test_the_applier_accepts_them_with_its_own_labels(chart: Path) -> None:
    properties = object_properties(objects_of(file(chart), region="us-east-2"))
    desired = Desired.of({"ClusterName": "eks", "Name": "hyperpod", **properties})
    assert {item["metadata"]["labels"]["app.kubernetes.io/managed-by"] for item in desired.objects} == {"hyperpod-cdk"}
    assert ("example.com", "Operator") in desired.defined_kinds


@pytest.mark.usefixtures("helm")
def test_values_of_the_file_take_precedence(chart: Path) -> None:
    found = rendered(section(chart, **{"health-monitoring-agent": {"region": "us-east-1"}}))
    assert found
    assert "767398015722.dkr.ecr.us-east-1" in json.dumps(found.objects)


@pytest.mark.usefixtures("helm")
def test_a_hook_is_no_object(chart: Path) -> None:
    found = rendered(section(chart, hooks=True))
    assert found
    assert [item["metadata"]["name"] for item in found.hooks] == ["upgrade"]
    assert "Job" not in {item["kind"] for item in found.objects}


@pytest.mark.usefixtures("helm")
def test_random_values_are_found_by_another_rendering(chart: Path) -> None:
    assert random_objects(section(chart)) == []
    assert random_objects(section(chart, random=True)) == ["ConfigMap kube-system/password"]


def test_large_objects_are_packed_into_one_text() -> None:
    """CustomResourceDefinitions of training operators have hundreds of kilobytes each, most of it repeated."""
    small = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "aws-hyperpod"}}
    pod = {f"field{number}": {"type": "string", "description": f"Field {number} of a pod."} for number in range(500)}
    spec = {"names": {"kind": "Job"}, "group": "example.com", "roles": [pod] * 5}
    large = [
        {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": f"{n}.example.com"}}
        | {"spec": {**spec, "plural": str(n)}}
        for n in range(5)
    ]
    properties = object_properties([large[0], small, *large[1:]])
    assert list(properties) == ["ObjectNamespaceAwsHyperpod", "Objects"]
    assert len(json.dumps(large)) > 300_000
    assert len(json.dumps(properties)) < 10_000
    desired = Desired.of({"ClusterName": "eks", "Name": "hyperpod", **properties})
    assert [item["metadata"]["name"] for item in desired.objects] == ["aws-hyperpod", *(f"{n}.example.com" for n in range(5))]
    assert desired.objects[1]["spec"] == large[0]["spec"]


@pytest.mark.parametrize("text", ["xz:", "xz:AAAA", "xz:???", f"xz:{base64.b64encode(lzma.compress(b'{}')).decode()}"])
def test_a_packed_text_that_is_broken_is_refused(text: str) -> None:
    with pytest.raises(PropertyError, match=r"^Objects\[0\]: cannot be unpacked; deploy again"):
        Desired.of({"ClusterName": "eks", "Name": "hyperpod", "Objects": [text]})


def test_without_helm_the_fix_is_to_install_it(chart: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(HelmError, match=r"`helm` is not on the PATH; install Helm 3\.8 or newer \(https://"):
        rendered(section(chart))


@pytest.mark.parametrize("version", ["v2.17.0", "v3.7.2+g663a896"])
def test_an_old_helm_is_refused(version: str, chart: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_helm(tmp_path, monkeypatch, f"echo {version}")
    with pytest.raises(HelmError, match=rf"Helm {version[:4]}.* is too old; install Helm 3\.8 or newer"):
        rendered(section(chart))


def test_a_helm_that_does_not_start_is_reported(chart: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_helm(tmp_path, monkeypatch, "echo 'Error: could not find tiller' >&2; exit 1")
    with pytest.raises(HelmError, match=r"`helm version` fails: could not find tiller; install Helm"):
        rendered(section(chart))


def test_a_helm_that_does_not_end_is_reported(chart: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "TIMEOUT_S", 1)
    fake_helm(tmp_path, monkeypatch, "case $1 in version) echo v4.1.4;; *) exec sleep 60;; esac")
    with pytest.raises(HelmError, match=r"`helm template` has not ended in 1 seconds; run it in a terminal"):
        rendered(section(chart))


@pytest.mark.usefixtures("helm")
def test_dependencies_that_are_not_there_name_the_command(chart: Path) -> None:
    described = (chart / "Chart.yaml").read_text()
    needed = "dependencies:\n  - {name: nvidia-device-plugin, version: 0.16.1, repository: https://charts.example.com}\n"
    (chart / "Chart.yaml").write_text(described + needed)
    with pytest.raises(
        HelmError, match=r"missing in charts/ directory: nvidia-device-plugin; run `helm dependency update hyperpod`"
    ):
        rendered(section(chart))


@pytest.mark.usefixtures("helm")
def test_an_error_of_a_template_is_one_line(chart: Path) -> None:
    with pytest.raises(HelmError) as caught:
        rendered(section(chart, required=False))
    text = str(caught.value)
    assert "\n" not in text
    assert "mistakes.yaml:2:4" in text
    assert text.endswith("required must be true; correct `eks.helm_chart.values` or the chart")


@pytest.mark.usefixtures("helm")
def test_a_chart_for_another_kubernetes_is_refused(chart: Path) -> None:
    (chart / "Chart.yaml").write_text((chart / "Chart.yaml").read_text() + 'kubeVersion: ">=1.35"\n')
    with pytest.raises(HelmError, match="use a chart for this Kubernetes version"):
        rendered(section(chart))
