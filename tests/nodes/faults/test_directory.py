"""Users of a directory: Debian's slapd, SSSD on three nodes, sshd, PAM and Slurm, all real."""

import pytest

from tests.node_settings import Json
from tests.node_settings import directory as directory_section
from tests.nodes.cluster.running import UP_S, Running
from tests.nodes.faults import directory_server
from tests.nodes.faults.conftest import Again
from tests.simulator.hyperpod.world import until

pytestmark = pytest.mark.local

SERVER, NODES = "workers-2", ("controller-1", "login-1", "workers-1")
KEY = "ssh -i /root/user -o BatchMode=yes -o IdentitiesOnly=yes"
PASSWORD = "chmod +x /root/answer; SSH_ASKPASS=/root/answer SSH_ASKPASS_REQUIRE=force ssh -o PreferredAuthentications=password"


def login(cluster: Running, user: str, command: str, *, password: str | None = None, status: int = 0) -> str:
    """Run a command on the login node, by ssh from a node that does not know the user, with its key or a password."""
    ssh = KEY if password is None else f'printf \'#!/bin/sh\\necho "%s"\\n\' "{password}" >/root/answer; {PASSWORD}'
    script = f"{ssh} {user}@{cluster.machine('login-1')['host']} '{command}' 2>&1; [ $? = {status} ] || exit 99"
    return cluster.run(SERVER, "sh", "-c", script)


@pytest.fixture(scope="module")
def section(cluster: Running) -> Json:
    """The settings of a directory that runs, whose server all nodes know by name."""
    cluster.run(SERVER, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "/root/user")
    key = cluster.run(SERVER, "cat", "/root/user.pub")
    authority = directory_server.start(cluster, SERVER, {"alice_ldap": (30011, 30001), "bob_ldap": (30012, 30002)}, key)
    address = cluster.run(SERVER, "hostname", "-I").strip()
    for node in NODES:
        cluster.run(node, "sh", "-c", f"echo {address} {directory_server.HOST} >>/etc/hosts")
    return directory_section(
        uris=[f"ldaps://{directory_server.HOST}"],
        secret_arn=cluster.world.secret("directory", directory_server.PASSWORD),
        ca_certificates=authority,
        allowed_groups=["vision"],
        sudo_groups=["vision"],
    )


def test_users_of_a_directory_log_in_and_run_jobs_and_others_are_refused(cluster: Running, again: Again, section: Json) -> None:
    start_tls = {"uris": [f"ldap://{directory_server.HOST}"]}
    sections = {"controller-1": section, "login-1": section | {"ssh_passwords": True}, "workers-1": section | start_tls}
    for run in [again(node, directory=each) for node, each in sections.items()]:
        run.succeeded()

    ids = {cluster.run(node, "id", "alice_ldap") for node in NODES}
    assert ids == {"uid=30011(alice_ldap) gid=30001(vision) groups=30001(vision)"}
    said = login(
        cluster, "alice_ldap", "pwd; stat --format=%U:%G:%a . .bashrc; sudo whoami; srun --immediate=20 --chdir=$HOME pwd"
    )
    home = "/fsx/home/alice_ldap"
    assert said.splitlines() == [home, "alice_ldap:vision:700", "alice_ldap:vision:644", "root", home]
    worker = cluster.machine("workers-1")["host"]
    assert login(cluster, "alice_ldap", f"ssh -o BatchMode=yes {worker} whoami") == "alice_ldap"
    login(cluster, "bob_ldap", "true", status=255)
    refused = "journalctl --output=cat --no-pager | grep bob_ldap || true"
    until(lambda: cluster.run("login-1", "sh", "-c", refused), lambda said: "Access denied for user bob_ldap" in said, 10)

    assert login(cluster, "alice_ldap", "whoami", password="alice_ldap's own") == "alice_ldap"
    login(cluster, "alice_ldap", "true", password="no", status=255)

    secrets = cluster.world.client("secretsmanager")
    secrets.put_secret_value(SecretId=section["secret_arn"], SecretString="wrong")
    error = again("login-1", directory=section | {"shell": "/bin/sh"}).failed()
    assert "bind as cn=sssd,dc=example,dc=com: LDAP result 49 (invalid credentials)" in error
    assert "check `directory.bind_dn` and the password in `directory.secret_arn`" in error
    assert "wrong" not in error

    secrets.put_secret_value(SecretId=section["secret_arn"], SecretString=directory_server.PASSWORD)
    directory_server.stop(cluster, SERVER)
    hurry = {"hyperpod_node/steps/directory.py": ("OUTAGE_S, GROUPS_S = 60, 10", "OUTAGE_S, GROUPS_S = 1, 1")}
    lines = again("workers-1", directory=section, hurry=hurry).succeeded()
    assert any("Connection refused" in line and line.startswith("warning: the directory: gave up") for line in lines), lines
    assert login(cluster, "alice_ldap", "whoami") == "alice_ldap"

    for run in [again(node) for node in NODES]:
        run.succeeded()
    until(lambda: cluster.run("login-1", "sh", "-c", "id alice_ldap 2>&1 || true"), lambda said: "no such user" in said, UP_S)
