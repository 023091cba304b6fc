"""`make verify-aws` against the embedded AWS: from the start to fixtures, and interrupted."""

import json
import re
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from local_aws import hyperpod
from local_aws.environment import PROJECT
from local_aws.hyperpod import starting
from local_aws.hyperpod.check_only_runner import CheckOnlyRunner
from local_aws.nodes.runner import SimulatedNodes
from local_aws.server import EmbeddedAws
from local_aws.testing import clients_of
from tests.contract.aws_replay import Replay
from tests.local.walk.leftovers import leftovers
from tests.simulator.hyperpod.world import World
from tests.verify_aws.compare import counted
from tests.verify_aws.redaction import identities

pytestmark = [pytest.mark.cdk, pytest.mark.local]


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


@pytest.fixture(scope="module")
def fixtures(environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a whole run saved; all its checks passed."""
    into = tmp_path_factory.mktemp("verified") / "fixtures"
    printed, _ = (process := start(environment, "verify-all", into)).communicate(timeout=600)
    assert process.returncode == 0, printed
    assert "total     0.60 US dollars in 60 minutes" in printed
    return into


def test_all_checks_pass_and_nothing_is_left(aws: EmbeddedAws, nodes: SimulatedNodes, fixtures: Path) -> None:
    report = json.loads((fixtures / "verdicts.json").read_text())
    assert [check["verdict"] for check in report["checks"]] == ["passed"] * 7
    assert report["leftovers"] == []
    assert {"botocore", "project", "slurm", "image"} <= report["versions"].keys()
    assert leftovers(clients_of(aws)) == {}
    assert nodes.describe() == []


def test_the_fixtures_hold_what_decides_assumptions_and_no_identity(fixtures: Path) -> None:
    at_zero = json.loads((fixtures / "nodes/zero/controller-1/opt/ml/config/resource_config.json").read_text())
    assert {group["Name"]: group["Instances"] for group in at_zero["InstanceGroups"]}["workers"] is None
    logs = [log.read_text() for log in (fixtures / "logs/LifecycleConfig/workers").glob("*.log")]
    assert logs
    assert all("mount namespaces of this script and of PID 1: mnt:[" in log for log in logs)
    assert list(identities(file.read_text() for file in fixtures.rglob("*") if file.is_file())) == []


def test_an_interrupted_deployment_is_torn_down(
    aws: EmbeddedAws, nodes: SimulatedNodes, environment: dict[str, str], tmp_path: Path
) -> None:
    into = tmp_path / "fixtures"
    process = start(environment, "verify-interrupted", into)
    try:
        read_until(process, r"CREATE_IN_PROGRESS .*AWS::EC2::VPC ")
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
    assert verdicts == ["not reached"] * 6 + ["passed"], printed
    assert leftovers(clients_of(aws)) == {}
    assert nodes.describe() == []


def test_a_recording_of_the_embedded_aws_is_repeatable(aws: EmbeddedAws, nodes: SimulatedNodes, fixtures: Path) -> None:
    """The comparison that tests/contract makes with fixtures of AWS, here with those of the embedded AWS itself."""
    world = World(aws.endpoint)
    world.make()
    world.allow_all_but()
    starting.use(CheckOnlyRunner())
    try:
        found = Replay(fixtures, world).differences()
    finally:
        hyperpod.reset()
        starting.use(nodes)
    assert not found, counted(found)
