"""Two controllers with shared state, and what stops the first: jobs survive, and only one controller writes the state.

Each test goes on from the one before. A second controller that cannot reach slurmdbd needs the associations that slurmctld saves
when it ends in order, or every five minutes: the test of a stopped first one leaves them behind.
"""

import json
import re
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from hyperpod_node.slurm.handover import REQUEST
from local_aws.nodes.runner import SimulatedNodes
from tests.node_settings import slurm
from tests.nodes.bundle import Bundle, lay, make_file_system
from tests.nodes.cluster.running import UP_S, Running
from tests.nodes.cluster.writers import Writers
from tests.simulator.hyperpod.world import World, until

pytestmark = pytest.mark.local

FIRST, SECOND = 1, 2
LIMIT_S = 60.0
TIMEOUT_S = 5  # SlurmctldTimeout and MessageTimeout
TAKEN_OVER_S = 40
DATABASE = """\
#!/bin/bash
# An external database, on the login node.
set -euo pipefail
address=$(jq -r '.InstanceGroups[] | select(.Name == "login").Instances[0].CustomerIpAddress' /opt/ml/config/resource_config.json)
grep --quiet accounting-db /etc/hosts || echo "$address accounting-db" >>/etc/hosts
[ "$HYPERPOD_ROLE" = login ] || exit 0
printf '[mariadbd]\\nbind-address=0.0.0.0\\n' >/etc/mysql/mariadb.conf.d/99-external.cnf
systemctl start mariadb
mariadb --execute "CREATE USER slurm@'%' IDENTIFIED BY 'secret'; GRANT ALL ON slurm_acct_db.* TO slurm@'%'"
"""
EXTERNAL = {"database": "external", "host": "accounting-db", "port": 3306}


@pytest.fixture(scope="module")
def cluster(world: World, nodes: SimulatedNodes) -> Running:
    """Two controllers, a login node and a worker, set up by this project's scripts."""
    shared = {"name": "shared", "groups": ["workers"], "options": {}}  # HyperPod's partitions give whole nodes
    timeouts = {"SlurmctldTimeout": str(TIMEOUT_S), "MessageTimeout": str(TIMEOUT_S)}
    ours = slurm(state_folder="/fsx/slurm", settings=timeouts, partitions=[shared])
    world.route_to_aws()
    secret = world.secret("accounting", json.dumps({"username": "slurm", "password": "secret"}))
    settings = {"slurm": ours, "accounting": EXTERNAL | {"secret_arn": secret}}
    bundle = Bundle(make_file_system(world), settings, {"before_slurm/1_database.sh": DATABASE})
    scripts = lay(world, bundle, "lifecycle/several/")
    running = Running(world, nodes, {"controller": 2, "login": 1, "workers": 1}, scripts=scripts)
    running.create()
    assert running.settle()["ClusterStatus"] == "InService", running.settle()["FailureMessage"]
    running.idle(1)
    return running


@pytest.fixture(scope="module")
def writers(cluster: Running) -> Iterator[Writers]:
    """The record of all that write the state."""
    place = next(Path(cluster.machine("login-1")["folder"]).parents[1].glob("fsx/*/slurm"))
    with Writers(place, frozenset({REQUEST})) as writers:
        yield writers


JOB = "sbatch --partition=shared --mem=1 --output=/dev/null --wrap='echo $$ >>/fsx/pids; exec sleep 900'"
PROBE = "timeout --signal=KILL 7 srun --quiet --job-name=probe --partition=shared --mem=1 --immediate=6 hostname 2>&1"
FORGET = "timeout --signal=KILL 3 scancel --name=probe"
SUBMIT = "sbatch --partition=shared --mem=1 --output=/dev/null --wrap=true 2>&1 || true"
FILL = """
cp --archive /fsx/slurm /root/state
mount -t tmpfs -o size=512k,mode=0700,uid=slurm,gid=slurm full /fsx/slurm
cp --archive /root/state/. /fsx/slurm
! cat /dev/zero 2>/dev/null >/fsx/slurm/full
"""


@dataclass
class Fault:
    """A fault of the first controller, from now on."""

    cluster: Running
    writers: Writers
    start: float = field(default_factory=time.monotonic)

    def until_srun(self) -> float:
        """The seconds until a job has run."""
        worker = self.cluster.machine("workers-1")["host"]
        look = f"{PROBE} || {FORGET}; true"
        until(lambda: self.cluster.run("login-1", "sh", "-c", look).splitlines()[-1:], lambda said: said == [worker], LIMIT_S)
        return time.monotonic() - self.start

    def until_written_by(self, number: int) -> None:
        """Wait until this controller writes the state."""
        until(self.wrote, lambda numbers: number in numbers, LIMIT_S)

    def wrote(self) -> list[int]:
        """The controllers that have written, each as often as the writer changed."""
        numbers = {self.cluster.machine(f"controller-{number}")["id"]: number for number in (FIRST, SECOND)}
        return [numbers[node] for node in self.writers.since(self.start)]


def on_first(cluster: Running, script: str) -> str:
    """What a script prints on the first controller."""
    return cluster.run("controller-1", "sh", "-c", script)


def signal(cluster: Running, name: str) -> str:
    """Send a signal to the first slurmctld; its pid."""
    pid = cluster.run("controller-1", "systemctl", "show", "--property=MainPID", "--value", "slurmctld")
    on_first(cluster, f"kill -{name} {pid}")
    return pid


def link(cluster: Running, *lines: str) -> None:
    """Change the first controller's interface. Nodes may not, so it is done from outside."""
    identity = cluster.machine("controller-1")["id"]
    inside = next(process.name for process in Path("/proc").glob("[0-9]*") if is_init_of(identity, process))
    command = ["nsenter", "--net", "--target", inside, "ip", "-batch", "-"]
    subprocess.run(command, input="".join(f"{line}\n" for line in lines), text=True, check=True)


def is_init_of(identity: str, process: Path) -> bool:
    """Whether it is the first process on a node."""
    try:
        pids = re.findall(r"^NSpid:.*\t(\d+)$", (process / "status").read_text(), re.MULTILINE)
        return pids == ["1"] and f"/{identity}" in (process / "cgroup").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.fixture(scope="module")
def routes(cluster: Running) -> list[str]:
    """The first controller's routes, which its interface loses when it is down; the default route comes last."""
    lines = on_first(cluster, "ip route show").splitlines()
    return [f"route replace {line}" for line in sorted(lines, key=lambda line: line.startswith("default"))]


@pytest.fixture(scope="module", autouse=True)
def job(cluster: Running, writers: Writers) -> None:
    """A job that runs through all faults."""
    cluster.run("login-1", "sh", "-c", JOB)
    until(lambda: cluster.run("login-1", "squeue", "--noheader", "--format=%T"), lambda state: state == "RUNNING", LIMIT_S)
    start = time.monotonic()
    cluster.run("login-1", "scontrol", "update", "JobId=1", "Comment=kept")  # slurmctld saves it some seconds later
    until(lambda: [when for when, _, name in writers.writes if name.startswith("job_state") and when > start], bool, LIMIT_S)


@pytest.fixture(autouse=True)
def _has_survived(cluster: Running) -> Iterator[None]:
    """The job's process is the same after each test, Slurm knows it, and nothing was started twice."""
    yield
    [pid] = cluster.run("workers-1", "cat", "/fsx/pids").split()
    assert cluster.run("workers-1", "cat", f"/proc/{pid}/comm") == "sleep"
    look = "squeue --noheader --jobs=1 --format=%T 2>&1 || true"
    until(lambda: cluster.run("login-1", "sh", "-c", look), lambda state: state == "RUNNING", UP_S)


def test_a_killed_slurmctld_starts_again_at_once(cluster: Running, writers: Writers) -> None:
    fault = Fault(cluster, writers)
    signal(cluster, "KILL")
    assert fault.until_srun() < 4 * TIMEOUT_S
    assert fault.wrote() == [FIRST]


def test_the_second_takes_over_from_one_that_is_stopped_and_only_one_writes(cluster: Running, writers: Writers) -> None:
    pid = signal(cluster, "STOP")
    fault = Fault(cluster, writers)
    assert fault.until_srun() < TAKEN_OVER_S
    on_first(cluster, f"kill -CONT {pid} 2>/dev/null || true")
    fault.until_written_by(FIRST)
    assert fault.until_srun() < LIMIT_S
    time.sleep(3)
    assert fault.wrote() == [SECOND, FIRST]


def test_without_network_the_first_continues_while_it_can_write_and_no_other_takes_over(
    cluster: Running, writers: Writers, routes: list[str]
) -> None:
    fault = Fault(cluster, writers)
    link(cluster, "link set eth0 down")
    time.sleep(2 * TIMEOUT_S)
    assert fault.wrote() == [FIRST]
    link(cluster, "link set eth0 up", *routes)
    assert Fault(cluster, writers).until_srun() < 4 * TIMEOUT_S
    assert fault.wrote() == [FIRST]


def test_on_a_full_file_system_srun_works_and_sbatch_says_why_not(cluster: Running, writers: Writers) -> None:
    """The first controller alone sees a full file system; so no other writes are in the record."""
    on_first(cluster, FILL)
    fault = Fault(cluster, writers)
    time.sleep(1.5 * TIMEOUT_S)
    assert Fault(cluster, writers).until_srun() < 4 * TIMEOUT_S
    assert "I/O error writing script/environment to file" in cluster.run("login-1", "sh", "-c", SUBMIT)
    assert fault.wrote() == []
    on_first(cluster, "umount --lazy /fsx/slurm")
    fault.until_written_by(FIRST)
    assert "Submitted batch job" in cluster.run("login-1", "sh", "-c", SUBMIT)
