"""`hpod replace`, `reboot`, `drain` and `resume` on nodes with jobs, through sessions to the controller."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.__main__ import main
from local_aws.credentials import OWNER
from local_aws.environment import aws_environment
from local_aws.server import EmbeddedAws
from local_aws.testing import REGION
from tests.nodes.cluster.operated import FILE, STACK
from tests.nodes.cluster.running import UP_S
from tests.nodes.jobs.submitted import Cluster
from tests.simulator.hyperpod.world import until

pytestmark = pytest.mark.local

# It ends a few seconds after its node is drained.
JOB = "until sinfo --noheader --nodes={host} --format=%T | grep -q drain; do sleep 0.2; done; sleep 4; echo ended >ended"
SINFO = ("sinfo", "--noheader", "--Node", "--partition=dev")
Hpod = Callable[..., str]


@pytest.fixture
def hpod(
    aws: EmbeddedAws, cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Hpod:
    """Run a command as an operator with the plugin, in a folder with the file of the cluster ml."""
    world = cluster.running.world
    world.allow("ssmmessages:*", name="sessions")
    world.client("cloudformation").create_stack(StackName="ml-Cluster", TemplateBody=json.dumps(STACK))
    (tmp_path / "clusters").mkdir()
    (tmp_path / "clusters" / "ml.yaml").write_text(FILE)
    for name, value in aws_environment(aws.endpoint, REGION, tmp_path, OWNER).items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)

    def run(command: str, *words: str) -> str:
        status = main([command, "ml", *words])
        printed = capsys.readouterr()
        assert status == 0, (printed.out, printed.err)
        return printed.out

    return run


def test_nodes_are_replaced_rebooted_drained_and_resumed_between_jobs(hpod: Hpod, cluster: Cluster) -> None:
    running = cluster.running
    running.idle(2)
    before = running.machine("workers-1")
    wrap = JOB.format(host=before["host"])
    job = cluster.as_alice(
        f"sbatch --parsable --chdir=/fsx/home/alice --output=/dev/null --nodelist={before['host']} --wrap='{wrap}'"
    )
    until(lambda: cluster.as_alice(f"squeue --noheader --jobs={job} --format=%T"), lambda state: state == "RUNNING", UP_S)

    printed = hpod("replace", "workers-1", "--yes", "--reason", "ECC errors")

    after = running.machine("workers-1")
    assert after["id"] != before["id"]
    assert f"waiting for 1 job to end: {job}" in printed
    assert "hyperpod-precheck: 1 of 1 passed" in printed
    assert cluster.as_alice("cat /fsx/home/alice/ended") == "ended"
    running.idle(2)
    assert cluster.as_alice(f"srun --quiet --nodelist={after['host']} hostname") == after["host"]

    running.run("workers-2", "touch", "/run/before")
    assert "1 of 1 nodes rebooted" in hpod("reboot", running.machine("workers-2")["address"], "--yes")
    assert running.run("workers-2", "sh", "-c", "ls /run/before 2>/dev/null || echo none") == "none"
    running.idle(2)
    refused = "curl --silent --max-time 5 http://169.254.169.254/; echo $?"
    assert running.run("workers-2", "runuser", "-u", "alice", "--", "sh", "-c", refused) == "7"

    hpod("drain", after["host"], "--reason", "ECC errors")
    reason = running.run("controller-1", *SINFO, f"--nodes={after['host']}", "--format=%T %E")
    assert reason == "drained hpod drain by root: ECC errors"
    hpod("resume", "workers")
    running.idle(2)
