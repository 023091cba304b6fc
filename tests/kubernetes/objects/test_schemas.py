"""The objects of a file are valid in each Kubernetes version that HyperPod supports."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from cluster_request.kubernetes_objects.dependencies import objects_of
from local_aws.environment import PROJECT
from tests.tool_environment import programs_of
from tests.unit.cluster_request.kubernetes_objects.eks_file import FILE_SYSTEM, eks_file

Json = dict[str, Any]
Validate = Callable[[list[Json], str], list[str]]
VERSIONS = ("1.32", "1.33", "1.34", "1.35")
VALIDATOR = "1.37.0"
TAINTS = ({"key": "expensive", "effect": "NoExecute"}, {"key": "team", "value": "vision", "effect": "NoSchedule"})
JOBS = sorted((PROJECT / "examples" / "jobs" / "kubernetes").glob("*.yaml"))
OBJECTS = objects_of(eks_file("research", taints=TAINTS), region="us-west-2", file_system=FILE_SYSTEM)


@pytest.fixture(scope="session")
def validator() -> Path:
    """The program; its package has 17,000 files, so it has an environment of its own."""
    pinned = ("importlib_resources==7.1.0", "-c", str(PROJECT / "constraints.txt"))
    return programs_of("kubernetes-validate", VALIDATOR, *pinned) / "kubernetes-validate"


@pytest.fixture
def validate(validator: Path) -> Validate:
    """Return the program's line about each object."""

    def run(objects: list[Json], version: str) -> list[str]:
        command = [str(validator), "--strict", "--kubernetes-version", version, "-"]
        text = "\n---\n".join(json.dumps(item) for item in objects)
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
        lines = done.stdout.splitlines()
        assert len(lines) == len(objects), done.stdout + done.stderr
        return lines

    return run


@pytest.mark.parametrize("version", VERSIONS)
def test_each_object_is_strictly_valid(version: str, validate: Validate) -> None:
    names = [f"{item['kind'].lower()}/{item['metadata']['name']}" for item in OBJECTS]
    expected = [f"INFO - passed for resource {name} against version {version}" for name in names]
    assert validate(OBJECTS, version) == expected


@pytest.mark.parametrize("version", VERSIONS)
def test_the_pods_of_each_example_are_strictly_valid(version: str, validate: Validate) -> None:
    pods = [
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"{path.stem}-{number}"}, **replica["template"]}
        for path in JOBS
        for number, replica in enumerate(_replicas(yaml.safe_load(path.read_text())["spec"]))
    ]
    assert len(pods) == 5
    names = [pod["metadata"]["name"] for pod in pods]
    assert validate(pods, version) == [f"INFO - passed for resource pod/{name} against version {version}" for name in names]


def _replicas(spec: Json) -> list[Json]:
    return [*spec.get("replicaSpecs", ()), *spec.get("pytorchReplicaSpecs", {}).values()]


def test_the_check_finds_unknown_versions_and_fields(validate: Validate) -> None:
    [version, field] = validate([{**OBJECTS[0], "apiVersion": "v9"}, {**OBJECTS[0], "unknown": 1}], VERSIONS[-1])
    assert "Couldn't find schema" in version
    assert field.startswith("ERROR")
    assert "unknown" in field
