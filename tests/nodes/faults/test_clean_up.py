"""What the prolog and epilog leave of a user's jobs on a worker, whatever other users do there."""

from collections.abc import Iterator

import pytest

from tests.nodes.cluster.running import UP_S, Running
from tests.nodes.faults.user import as_alice
from tests.simulator.hyperpod.world import until

pytestmark = pytest.mark.local

JOBS = "/run/hyperpod-jobs"
LEFT = "sleep 777"
LEAVING_ONE = f"setsid --fork {LEFT} >/dev/null 2>&1; touch /tmp/left-by-alice"
# `nobody` is any user who can start a program on the node.
HOLD = f"exec 9<{JOBS}/lock && flock --nonblock 9 && exec sleep 200"


@pytest.fixture
def worker(cluster: Running) -> Iterator[str]:
    """A worker on which alice has had a job; what she left is gone after the test."""
    cluster.idle(2)
    run_job(cluster, "workers-1", "true")
    yield "workers-1"
    cluster.run(
        "workers-1", "bash", "-c", f"systemctl stop mallory; pkill -u alice; rm -rf {JOBS}/10001 /tmp/left-by-alice; true"
    )


def run_job(cluster: Running, worker: str, command: str) -> None:
    """Run a job of alice's on a worker, and wait for its epilog."""
    host = cluster.machine(worker)["host"]
    as_alice(cluster, "login-1", f"sbatch --wait --output=/dev/null --nodelist={host} --wrap='{command}'")
    cluster.idle(2)


def left(cluster: Running, worker: str) -> str:
    """What is left of alice's processes, files and marks."""
    look = f"pgrep --full --list-full --euid alice '{LEFT}'; ls -d /tmp/left-by-alice {JOBS}/10001/* 2>/dev/null; true"
    return cluster.run(worker, "bash", "-c", look)


def test_a_user_who_takes_the_lock_does_not_keep_what_others_left(cluster: Running, worker: str) -> None:
    cluster.run(worker, "systemd-run", "--quiet", "--unit=mallory", "--uid=nobody", "bash", "-c", HOLD)
    run_job(cluster, worker, LEAVING_ONE)
    until(lambda: left(cluster, worker), lambda seen: seen == "", UP_S)


def test_a_job_whose_epilog_did_not_run_does_not_stop_the_clean_up_after_the_next(cluster: Running, worker: str) -> None:
    cluster.run(worker, "bash", "-c", f"mkdir -p {JOBS}/10001 && touch {JOBS}/10001/4242")
    run_job(cluster, worker, LEAVING_ONE)
    until(lambda: left(cluster, worker), lambda seen: seen == "", UP_S)


def test_a_user_whose_other_job_runs_on_keeps_its_files(cluster: Running, worker: str) -> None:
    host = cluster.machine(worker)["host"]
    options = f"--partition=shared --mem=1 --output=/dev/null --nodelist={host}"
    job = as_alice(cluster, "login-1", f"sbatch --parsable {options} --wrap='sleep 600'")
    mark = f"{JOBS}/10001/{job}"
    until(lambda: left(cluster, worker), lambda seen: mark in seen, UP_S)
    as_alice(cluster, "login-1", f"sbatch --wait {options} --wrap='touch /tmp/left-by-alice'")
    until(lambda: left(cluster, worker).split(), lambda seen: seen == sorted([mark, "/tmp/left-by-alice"]), UP_S)
    as_alice(cluster, "login-1", f"scancel {job}")
    until(lambda: left(cluster, worker), lambda seen: seen == "", UP_S)
