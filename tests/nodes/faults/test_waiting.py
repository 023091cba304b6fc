"""What our scripts need and is not there yet: they say what they wait for, and go on when it comes."""

import pytest

from tests.node_settings import Json
from tests.nodes.cluster.running import Running
from tests.nodes.faults.conftest import Again
from tests.nodes.faults.provisioning import AT_ONCE

pytestmark = pytest.mark.local

HOURS = "TIMEOUT_S = OWN_SCRIPTS_TIMEOUT_S + 5400"
APT_AT_WORK = """
systemd-run --quiet --unit=apt-at-work python3 -c '
import fcntl, signal
lock = open("/var/lib/dpkg/lock-frontend", "w")
fcntl.lockf(lock, fcntl.LOCK_EX)
signal.pause()'
until fuser --silent /var/lib/dpkg/lock-frontend; do sleep 0.05; done
"""
# A stand-in in the place of the stand-in that nodes have for Lustre's client: it says what the real one says when its name
# service is not up yet, mounts nothing and ends well, as the real one has been seen to. The third call is let through.
CANNOT_PARSE = """\
#!/bin/bash
echo >>/root/tries
[ "$(wc -l </root/tries)" -lt 3 ] || exec /usr/sbin/mount.lustre.kept "$@"
echo "mount.lustre: Can't parse NID '$1'" >&2
"""


@pytest.mark.fault(60)
def test_a_name_without_address_and_apts_lock_are_waited_for_one_after_the_other(
    cluster: Running, again: Again, file_system: Json
) -> None:
    cluster.run("login-1", "bash", "-c", f"mv /etc/resolv.conf /root; {APT_AT_WORK}")

    run = again("login-1", hurry=AT_ONCE)

    assert run.said(f"waiting for the address of {file_system['fsx_dns_name']}, up to 300 s").endswith(
        "enable DNS support and DNS host names in the VPC"
    )
    cluster.run("login-1", "mv", "/root/resolv.conf", "/etc")
    assert "/var/lib/dpkg/lock-frontend is held by process " in run.said(
        "waiting for the end of other installations, up to 600 s"
    )
    cluster.run("login-1", "systemctl", "stop", "apt-at-work")
    run.succeeded()


@pytest.mark.fault(62)
def test_a_mount_that_ends_well_and_mounted_nothing_is_tried_again(cluster: Running, again: Again) -> None:
    keep = "umount /fsx && cp --archive /usr/sbin/mount.lustre /usr/sbin/mount.lustre.kept"
    cluster.run("login-1", "bash", "-c", f"{keep} && cat >/usr/sbin/mount.lustre <<'END'\n{CANNOT_PARSE}END\n")

    again("login-1").succeeded()

    assert cluster.run("login-1", "bash", "-c", "mountpoint --quiet /fsx && wc -l </root/tries") == "3"
    cluster.run("login-1", "bash", "-c", "mv /usr/sbin/mount.lustre.kept /usr/sbin/mount.lustre; rm /root/tries")


@pytest.mark.fault(62)
def test_a_mount_that_never_comes_ends_the_run_with_what_the_client_says(cluster: Running, again: Again) -> None:
    """As it would after five minutes, but for the minutes."""
    cluster.run("login-1", "bash", "-c", "umount /fsx && mv /usr/sbin/mount.lustre /root")
    cluster.run(
        "login-1", "bash", "-c", "printf '#!/bin/bash\\necho no such device >&2\\n' | install /dev/stdin /usr/sbin/mount.lustre"
    )

    error = again("login-1", hurry={"hyperpod_node/mount.py": ("TIMEOUT_S = 300", "TIMEOUT_S = 1")}).failed()

    assert error.startswith("lifecycle script failed: step 'mount FSx at /fsx': ")
    assert "`systemctl start fsx.mount` ended with status 1: " in error
    assert error.endswith("; output of mount: no such device")
    cluster.run("login-1", "bash", "-c", "mv /root/mount.lustre /usr/sbin && mount /fsx")


@pytest.mark.fault(63)
def test_a_worker_waits_for_its_controller_names_the_address_and_joins_when_it_is_there(cluster: Running, again: Again) -> None:
    """The first run gives up as it would after hours, but for the hours."""
    cluster.run("controller-1", "systemctl", "stop", "slurmctld")
    cluster.run("workers-1", "systemctl", "stop", "slurmd")
    nobody = f"cannot reach slurmctld ({cluster.machine('controller-1')['address']}:6817: Connection refused)"

    error = again("workers-1", hurry={"hyperpod_node/slurm/controllers.py": (HOURS, "TIMEOUT_S = 1")}).failed()
    assert error.startswith("lifecycle script failed: step 'slurmd': a controller: gave up after ")
    assert error.endswith(f"{nobody}; see the log of the controller")

    run = again("workers-1", hurry=AT_ONCE)
    assert nobody in run.said("waiting for a controller, up to 9000 s")
    cluster.run("controller-1", "systemctl", "start", "slurmctld")
    run.succeeded()
    cluster.idle(2)


@pytest.mark.fault(65)
def test_a_slurm_conf_that_the_agent_has_not_written_yet_is_waited_for_and_missed_when_it_never_comes(
    cluster: Running, again: Again
) -> None:
    """The first run gives up as it would after ten minutes, but for the minutes."""
    cluster.run("controller-1", "mv", "/opt/slurm/etc/slurm.conf", "/root")
    missing = "/opt/slurm/etc/slurm.conf is missing; HyperPod's agent writes it on the controller"

    hurry = {"hyperpod_node/steps/slurm_controller.py": ("AGENT_TIMEOUT_S = 600", "AGENT_TIMEOUT_S = 1")}
    error = again("controller-1", hurry=hurry).failed()
    assert error.startswith("lifecycle script failed: step 'slurm.conf': slurm.conf: gave up after ")
    assert missing in error

    run = again("controller-1", hurry=AT_ONCE)
    assert missing in run.said("waiting for slurm.conf, up to 600 s")
    cluster.run("controller-1", "mv", "/root/slurm.conf", "/opt/slurm/etc")
    run.succeeded()
    cluster.idle(2)
