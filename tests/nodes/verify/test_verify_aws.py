"""`make verify-aws` against the embedded AWS: from the start to fixtures, and interrupted."""

import json
import re
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from local_aws.environment import PROJECT
from local_aws.nodes.runner import SimulatedNodes
from local_aws.server import EmbeddedAws
from local_aws.testing import clients_of
from tests.local.walk.leftovers import leftovers

pytestmark = [pytest.mark.cdk, pytest.mark.local]

PASSED = ["passed"] * 7


def start(environment: Mapping[str, str], name: str, into: Path) -> subprocess.Popen[str]:
    """The program, with its output in one pipe."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.verify_aws", "--yes", "--name", name, "--into", str(into)],
        cwd=PROJECT,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def read_until(process: subprocess.Popen[str], pattern: str) -> str:
    """What the program prints, up to a line with this pattern; the test's own limit of time ends a wait for ever."""
    lines = []
    for line in process.stdout or ():
        lines.append(line)
        if re.search(pattern, line):
            return "".join(lines)
    raise AssertionError("".join(lines))


def test_all_checks_pass_and_the_fixtures_are_saved(
    aws: EmbeddedAws, nodes: SimulatedNodes, environment: dict[str, str], tmp_path: Path
) -> None:
    into = tmp_path / "fixtures"
    process = start(environment, "verify-all", into)
    printed, _ = process.communicate(timeout=600)
    assert process.returncode == 0, printed
    report = json.loads((into / "verdicts.json").read_text())
    assert [check["verdict"] for check in report["checks"]] == PASSED
    assert report["leftovers"] == []
    assert {"botocore", "project", "slurm", "image"} <= report["versions"].keys()
    assert "total     0.60 US dollars in 60 minutes" in printed
    assert leftovers(clients_of(aws)) == {}
    assert nodes.describe() == []

    at_zero = json.loads((into / "nodes/zero/controller-1/opt/ml/config/resource_config.json").read_text())
    assert {group["Name"]: group["Instances"] for group in at_zero["InstanceGroups"]}["workers"] is None
    logs = [log.read_text() for log in (into / "logs/LifecycleConfig/workers").glob("*.log")]
    assert logs
    assert all("mount namespaces of this script and of PID 1: mnt:[" in log for log in logs)


def test_an_interrupted_run_tears_down(
    aws: EmbeddedAws, nodes: SimulatedNodes, environment: dict[str, str], tmp_path: Path
) -> None:
    into = tmp_path / "fixtures"
    process = start(environment, "verify-interrupted", into)
    try:
        read_until(process, r"^  ok     2 ")
        process.send_signal(signal.SIGINT)
        read_until(process, r"^SIGINT: the checks end here; tearing down")
        read_until(process, r"^\$ cdk destroy")
        process.send_signal(signal.SIGINT)
        printed, _ = process.communicate(timeout=300)
    finally:
        process.kill()
    assert "SIGINT: the teardown continues" in printed
    assert process.returncode == 1, printed
    verdicts = [check["verdict"] for check in json.loads((into / "verdicts.json").read_text())["checks"]]
    assert (verdicts[:2], verdicts[3:]) == (["passed"] * 2, ["not reached"] * 3 + ["passed"]), printed
    assert leftovers(clients_of(aws)) == {}
    assert nodes.describe() == []
