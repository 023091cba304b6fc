"""Clusters of one node that start for the first time, beside the one that other tests share."""

import base64
import json
import secrets
import subprocess
from collections.abc import Callable, Iterator

import pytest

from local_aws.nodes.runner import SimulatedNodes
from tests.node_settings import user
from tests.nodes.bundle import Bundle, lay
from tests.nodes.cluster.running import Running
from tests.simulator.hyperpod.world import BUCKET, World

pytestmark = pytest.mark.local

Start = Callable[..., Running]
DATABASE = {"database": "external", "host": "127.0.0.1", "port": 3306}
# A database on this node's own network stands in for RDS. A program writes down every command line that is in the process list, a
# hundred times a second.
STAND_INS = """\
#!/bin/bash
set -euo pipefail
umask 077
aws secretsmanager get-secret-value --secret-id SECRET_ARN --query SecretString --output text >/root/secret.json
jq --join-output .password /root/secret.json >/root/password
echo 'CERTIFICATE' | base64 --decode | install --owner=mysql --mode=400 /dev/stdin /etc/mysql/server.pem
printf '[mariadbd]\\nssl_cert=/etc/mysql/server.pem\\nssl_key=/etc/mysql/server.pem\\n' >/etc/mysql/mariadb.conf.d/99-tls.cnf
chmod 644 /etc/mysql/mariadb.conf.d/99-tls.cnf
systemctl restart mariadb
mariadb <<END
CREATE DATABASE slurm_acct_db;
GRANT ALL ON slurm_acct_db.* TO accounts@'%' IDENTIFIED BY '$(</root/password)' REQUIRE SSL;
END
cat >/root/watch.py <<'END'
import glob, time
seen = set()
while True:
    for place in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            seen.add(open(place).read().replace("\\0", " "))
        except OSError:
            continue
    open("/root/seen", "w").write("\\n".join(seen))
    time.sleep(0.01)
END
systemd-run --quiet --unit=watch python3 /root/watch.py
touch /root/mark
"""
CERTIFICATE = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=db -addext subjectAltName=IP:127.0.0.1 -keyout -"
FILES = "find / /run /dev/shm -xdev -type f -newer /root/mark -not -path '/proc/*' -not -path '/sys/*'"


@pytest.fixture(scope="module")
def start(world: World, nodes: SimulatedNodes) -> Iterator[Start]:
    """Create a cluster of one node, the controller, and wait until it is up or has failed: `start("name", Bundle())`."""
    names: list[str] = []

    def start(name: str, bundle: Bundle, *missing: str) -> Running:
        scripts = lay(world, bundle, f"{name}/")
        for file in missing:
            world.client("s3").delete_object(Bucket=BUCKET, Key=f"{name}/{file}")
        running = Running(world, nodes, {"controller": 1}, name, scripts)
        names.append(name)
        running.create()
        return running

    yield start
    for name in names:
        world.sagemaker.delete_cluster(ClusterName=name)
    for name in names:
        world.until_gone(name)


@pytest.fixture(scope="module")
def alone(world: World, start: Start) -> Running:
    """A controller with an external database and without a file system."""
    password = f"pass-{secrets.token_hex(12)}"
    secret = world.secret("accounting", json.dumps({"username": "accounts", "password": password}))
    certificate = subprocess.run(CERTIFICATE.split(), check=True, capture_output=True).stdout
    authorities = certificate[certificate.index(b"-----BEGIN CERTIFICATE") :].decode()
    settings = {"users": [user("alice", 10001)], "accounting": DATABASE | {"secret_arn": secret, "authorities": authorities}}
    script = STAND_INS.replace("SECRET_ARN", secret).replace("CERTIFICATE", base64.b64encode(certificate).decode())
    return start("alone", Bundle({}, settings, {"before_slurm/1_stand_ins.sh": script}))


@pytest.mark.fault(61)
def test_a_script_of_the_users_that_fails_is_named_with_its_command_and_what_it_said(start: Start) -> None:
    broken = "#!/bin/bash\necho preparing\necho 'E: Unable to locate package hpc-tools' >&2\nexit 100\n"

    failed = start("broken", Bundle(extra={"before_slurm/1_tools.sh": broken})).settle()

    assert failed["ClusterStatus"] == "Failed"
    message = failed["FailureMessage"]
    assert "on_create.sh ended with status 1: lifecycle script failed: step 'your scripts before Slurm': " in message
    assert "/extra/before_slurm/1_tools.sh` ended with status 100: " in message
    assert "preparing | E: Unable to locate package hpc-tools" in message
    assert "See log stream LifecycleConfig/controller/i-" in message


@pytest.mark.fault(61)
@pytest.mark.parametrize("file", ["node_settings.json", "hyperpod_node/plan.py"])
def test_a_file_that_is_missing_from_the_scripts_is_named(start: Start, file: str) -> None:
    name = f"lacks-{file.rpartition('/')[2].partition('.')[0].replace('_', '-')}"

    failed = start(name, Bundle(), file).settle()

    assert failed["ClusterStatus"] == "Failed"
    assert file.partition(".")[0].replace("/", ".") in failed["FailureMessage"]


def test_slurmdbd_encrypts_the_connection_to_the_database_that_the_controller_has_verified(alone: Running) -> None:
    """The database refuses connections of slurmdbd without TLS."""
    conf = alone.run("controller-1", "cat", "/opt/slurm/etc/slurmdbd.conf")
    assert "StorageParameters=SSL_CA=/opt/slurm/etc/slurm-database.pem" in conf.splitlines()
    assert alone.run("controller-1", "sacctmgr", "--noheader", "--parsable2", "show", "user", "format=user")


@pytest.mark.fault(73)
def test_without_a_file_system_homes_are_local_and_one_line_says_so(alone: Running) -> None:
    said = "homes stay in /home on this node's own disk: the cluster file has no file system"
    assert alone.log_of("controller-1").count(said) == 1
    assert alone.run("controller-1", "stat", "--format=%U %a", "/home/alice") == "alice 750"
    assert alone.run("controller-1", "bash", "-c", "ls -d /fsx 2>/dev/null || echo none") == "none"


@pytest.mark.fault(70)
def test_the_databases_password_is_in_no_log_in_no_process_list_and_in_no_file_that_others_read(alone: Running) -> None:
    def where(files: str) -> list[str]:
        return alone.run("controller-1", "bash", "-c", f"{files} | xargs grep -lFf /root/password || true").splitlines()

    alone.run("controller-1", "systemctl", "stop", "watch")
    assert "slurmdbd" in alone.run("controller-1", "cat", "/root/seen")

    assert where("echo /root/seen") == []
    assert where(f"{FILES} -perm /077") == []
    assert where("find /var/log /run/log -type f") == []
    file = alone.run("controller-1", "readlink", "--canonicalize", "/opt/slurm/etc/slurmdbd.conf")
    assert where(f"{FILES} -not -perm /077") == [file]
    assert alone.run("controller-1", "stat", "--format=%U %a", "/opt/slurm/etc/slurmdbd.conf") == "slurm 600"
    password = alone.run("controller-1", "cat", "/root/password")
    assert len(password) == len("pass-") + 24
    assert password not in "\n".join(alone.log_of("controller-1"))
    assert password not in alone.run("controller-1", "journalctl", "--output=cat", "--no-pager")
    assert alone.run("controller-1", "sacctmgr", "--noheader", "--parsable2", "show", "user", "format=user").splitlines() == [
        "alice",
        "root",
    ]
