"""`make demo` of the example on Amazon EKS, from nothing deployed to a training; and `make demo-down`."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from local_aws.nodes import cgroups
from local_aws.nodes.registry import Registry
from tests.cluster_files import PROJECT
from tests.kubernetes.running import processes, until

WITHIN_S = 500


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """The folder of an embedded AWS, which the test stops in any case."""
    yield tmp_path
    local_aws(tmp_path, "down")


def local_aws(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command, environment = (sys.executable, "-m", "local_aws", *words), {**os.environ, "LOCAL_AWS_HOME": str(home)}
    return subprocess.run(
        command,
        cwd=PROJECT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=WITHIN_S,
        stdin=subprocess.DEVNULL,
    )


def test_the_demo_trains_on_two_nodes_and_leaves_nothing(home: Path) -> None:
    done = local_aws(home, "demo", "examples/clusters/eks.yaml")

    assert done.returncode == 0, done.stdout + done.stderr
    nodes = re.findall(r"^(hyperpod-i-\w+) +Ready .*v1\.20\.2 +workers +Schedulable$", done.stdout, re.MULTILINE)
    assert len(nodes) == 2, done.stdout
    for name in ("health-monitoring-agent", "nvidia-device-plugin"):
        assert re.search(rf"^\S+ +{name} +2 +2 +2 ", done.stdout, re.MULTILINE), done.stdout
    assert "gloo, 2 processes, starting at step 0" in done.stdout
    assert re.search(r"^done: 50 steps", done.stdout, re.MULTILINE), done.stdout
    ran = re.findall(r"^fsdp-(?:master|worker)-0 .* (hyperpod-i-\w+) ", done.stdout, re.MULTILINE)
    assert sorted(ran) == sorted(nodes)
    assert "make demo-down" in done.stdout

    assert local_aws(home, "kubectl", "get", "namespace", "aws-hyperpod").returncode == 0
    [hub] = [entry for entry in Registry().entries() if entry.lives and Path(entry.folder).is_relative_to(home)]
    assert local_aws(home, "down").returncode == 0
    until(lambda: not processes(home))
    assert not hub.lives
    assert str(home) not in Path("/proc/mounts").read_text()
    places = [cgroups.hierarchy(), *(place for place, _ in cgroups.version_1())]
    assert not [place for place in places if (place / hub.cgroup).exists()]
