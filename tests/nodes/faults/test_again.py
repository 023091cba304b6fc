"""Our scripts run again on nodes that are up: nothing doubled, nothing broken, and no half of a change."""

import re

import pytest

from local_aws.nodes.agent.files import RESOURCE_CONFIG
from tests.node_settings import user
from tests.nodes.bundle import Bundle
from tests.nodes.cluster.running import Running
from tests.nodes.faults.conftest import Again
from tests.nodes.faults.provisioning import TIMES, Provisioning
from tests.nodes.faults.user import state

pytestmark = pytest.mark.local

NODES = ("controller-1", "login-1", "workers-1", "workers-2")
# All that was written since the mark was made, but for what daemons and programs write of themselves, and the code of the daemon
# that keeps slurm.conf: it is copied anew, and the daemon is not restarted where it is the same.
CHANGED = """
find / /fsx -xdev \\( -newer /root/mark -o -cnewer /root/mark \\) -not -type d \\
    -not -path '/var/log/*' -not -path '/tmp/*' -not -path '/var/lib/mysql/*' -not -path '/var/spool/slurm*' \\
    -not -path '/var/lib/systemd/*' -not -path '/opt/hyperpod-cdk/slurm-conf/hyperpod_node/*' -not -path /root/mark
"""
DAEMONS = "systemctl show --property=MainPID mariadb slurmdbd slurmctld slurmd munge sackd hyperpod-slurm-conf"


def without_times(lines: list[str]) -> list[str]:
    """What the scripts said, but for the seconds, for what they said while they waited, and for what they moved once."""
    ours = (line for line in lines if not line.startswith(("[SageMaker]", "waiting for ", "renamed ")))
    return [re.sub(TIMES, "", line) for line in ours]


@pytest.mark.fault(66)
def test_a_second_run_says_the_same_and_changes_nothing(cluster: Running, again: Again, job: str) -> None:
    before = {name: cluster.run(name, "bash", "-c", DAEMONS) for name in NODES}
    for name in NODES:
        cluster.run(name, "touch", "/root/mark")

    runs = {name: again(name) for name in NODES}

    for name, run in runs.items():
        assert without_times(run.succeeded()) == without_times(cluster.log_of(name))
        assert cluster.run(name, "bash", "-c", CHANGED) == ""
        assert cluster.run(name, "bash", "-c", DAEMONS) == before[name]
    assert state(cluster, job) == "RUNNING"


@pytest.mark.fault(68)
def test_a_user_who_exists_with_another_uid_ends_the_run_before_any_account_is_changed(cluster: Running, again: Again) -> None:
    accounts = cluster.run("login-1", "cat", "/etc/passwd", "/etc/group")

    error = again("login-1", users=[user("bob", 10002), user("alice", 10003)]).failed()

    assert error.startswith("lifecycle script failed: step 'groups and users': no account was changed: ")
    assert "user alice has uid 10001 and gid 10001 on this node and 10003 in the cluster file" in error
    assert cluster.run("login-1", "cat", "/etc/passwd", "/etc/group") == accounts


@pytest.mark.fault(68)
@pytest.mark.parametrize("others", [[user("bob", 10001)], [user("alice", 10002)], [user("bob", 1000)]])
def test_a_name_or_a_uid_that_two_have_ends_the_run_before_any_account_is_changed(
    cluster: Running, again: Again, others: list[dict[str, object]]
) -> None:
    accounts = cluster.run("login-1", "cat", "/etc/passwd", "/etc/group")

    assert "no account was changed: " in again("login-1", users=[user("carol", 10004), user("alice", 10001), *others]).failed()

    assert cluster.run("login-1", "cat", "/etc/passwd", "/etc/group") == accounts


@pytest.mark.fault(64)
@pytest.mark.parametrize(
    ("change", "error"),
    [
        ("rm {file}", "{file} is missing"),
        ("truncate --size=100 {file}", "{file} is not complete JSON"),
        ("sed -i 's/{address}\"/10.1.0.250\"/' {file}", "none of this node's addresses ['{address}'] is in {file}, which lists "),
        ("sed -i s/ClusterName/Name/ {file}", "{file} has no 'ClusterName'"),
    ],
)
def test_an_incomplete_resource_config_is_reported_with_its_content(
    cluster: Running, ours: Bundle, change: str, error: str
) -> None:
    words = {"file": "/root/resource_config.json", "address": cluster.machine("login-1")["address"]}
    cluster.run("login-1", "cp", RESOURCE_CONFIG, words["file"])
    cluster.run("login-1", "bash", "-c", change.format(**words))

    said = Provisioning(cluster, "login-1", ours, resource_config=words["file"]).begin().failed()

    assert said.startswith("lifecycle script failed: ")
    assert error.format(**words) in said


@pytest.mark.fault(71)
@pytest.mark.parametrize(
    ("node", "daemon"), [("controller-1", "slurmd"), ("login-1", "slurmd"), ("login-1", "slurmctld"), ("workers-1", "slurmctld")]
)
def test_a_daemon_of_another_kind_of_node_cannot_be_started(cluster: Running, node: str, daemon: str) -> None:
    assert cluster.run(node, "bash", "-c", f"systemctl start {daemon} 2>&1 || true").endswith(f"Unit {daemon}.service is masked.")


@pytest.mark.fault(72)
def test_a_node_whose_efa_devices_do_not_come_works_without_them(again: Again) -> None:
    """No node here has EFA: the settings say of its type that it has, and its devices do not come."""
    types = {"ml.c5.xlarge": {"sockets": None, "cores_per_socket": None, "gpus": 0, "gpu": None, "efa": True}}

    lines = again("login-1", instance_types=types).succeeded()

    assert [line for line in lines if line.startswith("warning: ")] == [
        "warning: Lustre uses TCP instead of EFA on this ml.c5.xlarge: "
        "no EFA device in /sys/class/infiniband, though the type has EFA"
    ]


@pytest.mark.fault(74)
def test_containers_go_to_the_fast_disk_where_there_is_one_and_else_one_line_says_where(cluster: Running, again: Again) -> None:
    """A file system in memory stands for the instance's own disks."""
    assert "no disk at /opt/dlami/nvme: containers go to /var/lib/containers" in cluster.log_of("login-1")
    cluster.run("login-1", "bash", "-c", "mkdir -p /opt/dlami/nvme && mount -t tmpfs nvme /opt/dlami/nvme")

    lines = again("login-1").succeeded()

    assert "containers go to /opt/dlami/nvme/containers; /var/lib/containers stays as it is" in lines
    cluster.run("login-1", "umount", "/opt/dlami/nvme")
    again("login-1").succeeded()
    assert cluster.run("login-1", "readlink", "/opt/hyperpod-cdk/containers") == "/var/lib/containers"


def test_a_full_disk_under_the_log_does_not_lose_the_node(cluster: Running, again: Again) -> None:
    full = "mount -t tmpfs -o size=4k full /var/log/provision && ! cat /dev/zero 2>/dev/null >/var/log/provision/full"
    cluster.run("login-1", "bash", "-c", full)

    lines = again("login-1").succeeded()

    assert any("No space left on device" in line for line in lines)
    assert lines[-1].startswith("lifecycle script done")
    cluster.run("login-1", "umount", "/var/log/provision")
