"""SSSD for the users of a directory, and what a node does while the directory is not there."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from hyperpod_node.accounts import Account
from hyperpod_node.directory import ldap, login_hook, sssd_conf
from hyperpod_node.errors import NodeError
from hyperpod_node.steps import directory as step
from tests.unit.hyperpod_node.a_node import LUSTRE, a_context, a_directory
from tests.unit.hyperpod_node.fake_system import FakeSystem

PASSWORD = "s3cret #1"
FILES = ("usr/sbin/sssd", "usr/lib/x86_64-linux-gnu/libnss_sss.so.2", "usr/lib/x86_64-linux-gnu/security/pam_sss.so")


@dataclass
class Machine(FakeSystem):
    """A node with SSSD's packages, and the answers of a directory's servers."""

    refusals: dict[str, NodeError] = field(default_factory=dict)
    checked: list[tuple[str, ldap.Login, Path | None]] = field(default_factory=list)

    def __post_init__(self) -> None:
        for file in FILES:
            self.write(file, "")
        self.write("etc/nsswitch.conf", "passwd: files systemd\ngroup: files sss\nhosts: files dns\nshadow:\tfiles\n")
        self.write("etc/pam.d/common-session", "session required pam_unix.so\n")
        self.answers("aws", f"{PASSWORD}\n")
        self.answers("pam-auth-update", self._pam_auth_update)

    def apply(self, *, role: str = "login", lustre: str | None = LUSTRE, accounting: str = "local", **changes: object) -> bool:
        """Run the step."""
        context = a_context(role=role, lustre=lustre, accounting=accounting, directory=a_directory(**changes))
        return step.apply(context, self.system)

    def text(self, path: Path) -> str:
        return self.path(path).read_text()

    def _pam_auth_update(self, arguments: tuple[str, ...], _: str | None) -> str:
        lines = self.text(login_hook.PROFILE).partition("Session:\n")[2] if "--enable" in arguments else ""
        self.write("etc/pam.d/common-session", "session required pam_unix.so\n" + lines)
        return ""


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    node = Machine(tmp_path)

    def check(uri: str, login: ldap.Login, authorities: Path | None) -> None:
        node.checked.append((uri, login, authorities))
        if uri in node.refusals:
            raise node.refusals[uri]

    monkeypatch.setattr(ldap, "check", check)
    return node


def test_the_password_is_in_one_file_of_roots_and_nowhere_else(machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    machine.apply()
    held = [path for path in machine.root.rglob("*") if path.is_file() and PASSWORD in path.read_text()]
    assert held == [machine.path(step.CONF)]
    assert held[0].stat().st_mode & 0o777 == 0o600
    assert PASSWORD not in str(machine.run.commands) + str(machine.run.inputs) + capsys.readouterr().out
    assert machine.checked == [
        ("ldaps://ldap.example.com", ldap.Login("cn=sssd,dc=example,dc=com", PASSWORD, "dc=example,dc=com"), None)
    ]


def test_a_second_run_restarts_nothing_and_a_change_restarts_sssd(machine: Machine) -> None:
    machine.apply(ca_certificates="A")
    machine.answers("systemctl", "LoadState=loaded\nActiveState=active\nUnitFileState=enabled\nNeedDaemonReload=no\n")
    restarts = [("restart", "sssd")]
    machine.run.commands.clear()
    machine.apply(ca_certificates="A")
    assert [words for words in machine.run.named("systemctl") if words[0] != "show"] == []
    machine.apply(ca_certificates="B")
    assert [words for words in machine.run.named("systemctl") if words[0] != "show"] == restarts
    assert machine.text(step.AUTHORITIES) == "B"


def test_local_accounts_stay_first(machine: Machine) -> None:
    machine.apply()
    assert machine.text(step.NSSWITCH) == "passwd: files systemd sss\ngroup: files sss\nhosts: files dns\nshadow:\tfiles sss\n"


def test_packages_are_installed_where_the_image_lacks_them_and_only_there(machine: Machine) -> None:
    machine.apply()
    assert machine.run.named("apt-get") == []
    for file in FILES[:2]:
        machine.path(f"/{file}").unlink()
    machine.apply()
    assert machine.run.named("apt-get")[-1][-2:] == ("sssd-ldap", "libnss-sss")


def test_keys_and_passwords_for_ssh_are_as_the_file_says(machine: Machine) -> None:
    machine.write(
        "usr/lib/systemd/system/ssh.service.d/ec2-instance-connect.conf", "[Service]\nExecStart=/usr/sbin/sshd -o ...\n"
    )
    machine.apply()
    assert machine.text(step.SSHD).splitlines()[1:] == [
        "AuthorizedKeysCommand /usr/bin/sss_ssh_authorizedkeys",
        "AuthorizedKeysCommandUser nobody",
    ]
    assert machine.text("/etc" / step.INSTANCE_CONNECT) == sssd_conf.HEADER
    assert machine.run.named("systemctl").count(("try-restart", "ssh")) == 1
    machine.apply(ssh_public_key_attribute=None, ssh_passwords=True)
    assert machine.text(step.SSHD).splitlines()[1:] == ["PasswordAuthentication yes"]


def test_groups_get_sudo_by_a_checked_file(machine: Machine) -> None:
    machine.apply(sudo_groups=["ml-admins", "Domain Admins"])
    rules = ["%ml-admins ALL=(ALL) NOPASSWD:ALL", "%Domain\\ Admins ALL=(ALL) NOPASSWD:ALL"]
    assert machine.text(step.SUDOERS).splitlines()[1:] == rules
    assert machine.run.named("visudo") == [("--check", "--quiet", "--file=-")]
    machine.apply(sudo_groups=["Domain Admins"], type="active_directory")
    assert machine.text(step.SUDOERS).splitlines()[1:] == ["%domain\\ admins ALL=(ALL) NOPASSWD:ALL"]


REFUSED = NodeError("ldaps://ldap.example.com: bind as cn=sssd,dc=example,dc=com: LDAP result 49 (invalid credentials)")
DOWN = ldap.UnreachableError("ldaps://ldap.example.com: timed out")


def test_a_refused_bind_fails_a_login_node_at_once_because_a_second_could_lock_the_account(machine: Machine) -> None:
    machine.refusals["ldaps://ldap.example.com"] = REFUSED
    with pytest.raises(NodeError, match=r"^no user of the directory can log in: .*invalid credentials"):
        machine.apply()
    assert len(machine.checked) == 1


@pytest.mark.parametrize("role", ["controller", "compute"])
@pytest.mark.parametrize("problem", [REFUSED, DOWN])
def test_a_directory_that_is_down_or_refuses_stops_no_node_that_jobs_need(
    machine: Machine, role: str, problem: NodeError, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.refusals["ldaps://ldap.example.com"] = problem
    machine.apply(role=role)
    assert re.match(r"(?s).*warning: .*; the users of the directory are unknown on this node until", capsys.readouterr().out)
    assert ("restart", "sssd") in machine.run.named("systemctl")


def test_settings_that_were_accepted_once_fail_no_login_node(machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    machine.apply()
    machine.refusals["ldaps://ldap.example.com"] = REFUSED
    machine.apply()
    assert "warning: ldaps://ldap.example.com: bind" in capsys.readouterr().out
    with pytest.raises(NodeError, match=r"can log in"):
        machine.apply(allowed_groups=["ml"])
    with pytest.raises(NodeError, match=r"can log in"):
        machine.apply(allowed_groups=["ml"])


def test_an_outage_fails_a_login_node_after_a_minute_and_another_server_is_enough(machine: Machine) -> None:
    machine.refusals["ldaps://ldap.example.com"] = DOWN
    machine.apply(uris=["ldaps://ldap.example.com", "ldaps://second.example.com"])
    assert machine.time.now_s == 0
    with pytest.raises(NodeError, match=r"can log in: the directory: gave up after .* timed out$"):
        machine.apply()
    assert 40 < machine.time.now_s <= step.OUTAGE_S


def test_a_secret_that_cannot_be_read_does_not_stop_a_worker(machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    machine.answers("aws", NodeError("AccessDeniedException"))
    machine.apply(role="compute")
    assert "AccessDeniedException; the users of the directory are unknown" in capsys.readouterr().out
    assert not machine.path(step.CONF).exists()


def test_packages_that_cannot_be_installed_do_not_stop_a_worker(machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    machine.answers("apt-get", NodeError("no mirror"))
    machine.path(f"/{FILES[0]}").unlink()
    machine.apply(role="compute")
    assert "warning: apt's sssd-ldap: gave up" in capsys.readouterr().out


def test_a_running_controller_without_login_nodes_refuses_settings_that_the_directory_refuses(machine: Machine) -> None:
    machine.refusals["ldaps://ldap.example.com"] = REFUSED
    context = a_context(role="controller", directory=a_directory())
    with pytest.raises(NodeError, match="no user of the directory can log in"):
        step.apply_live(context, machine.system)
    assert step.apply_live(replace(context, parameters=replace(context.parameters, login_group="login")), machine.system)


def test_a_running_node_waits_less_for_packages(machine: Machine) -> None:
    machine.answers("apt-get", NodeError("no mirror"))
    machine.path(f"/{FILES[0]}").unlink()
    assert step.apply_live(a_context(directory=a_directory()), machine.system)
    assert machine.time.now_s <= step.LIVE_PACKAGES_S


def test_an_unknown_group_is_a_warning(machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    def getent(arguments: tuple[str, ...], _: str | None) -> str:
        if arguments[1] == "visoin":
            raise NodeError("`getent group visoin` ended with status 2: no output")
        return ""

    machine.answers("getent", getent)
    machine.apply(allowed_groups=["vision", "visoin"])
    assert "warning: the directory has no group 'visoin'; check the name" in capsys.readouterr().out


def test_removed_users_that_the_directory_has_lose_their_local_account(machine: Machine) -> None:
    alice = Account("alice", 4001, 4001, Path("/fsx/home/alice"))
    machine.accounts.users, machine.accounts.directory = [alice], [alice]
    machine.write("var/lib/hyperpod-cdk/users.json", '{"users": [], "locked": ["alice"]}')
    machine.apply()
    assert machine.run.named("userdel") == [("--force", "alice")]


def test_a_directory_that_left_the_file_leaves_the_node(machine: Machine) -> None:
    machine.apply(sudo_groups=["ml-admins"], ca_certificates="A")
    caches = [machine.write(f"var/lib/sss/{name}", "alice") for name in ("mc/passwd", "db/cache_directory.ldb")]
    assert step.apply(a_context(), machine.system) is True
    for file in (step.CONF, step.SUDOERS, step.SSHD, step.AUTHORITIES, login_hook.COMMAND, login_hook.PROFILE):
        assert not machine.path(file).exists()
    assert [file for file in caches if file.exists()] == []
    assert ("disable", "--now", "sssd") in machine.run.named("systemctl")
    assert ("--package", "--remove", login_hook.NAME) in machine.run.named("pam-auth-update")


def test_sssd_of_the_image_is_unchanged_without_a_directory(machine: Machine) -> None:
    machine.write("etc/sssd/sssd.conf", "[sssd]\ndomains = theirs\n")
    assert step.apply(a_context(), machine.system) is False
    assert machine.run.commands == []


def test_a_session_configuration_that_pam_auth_update_leaves_unchanged_is_an_error(machine: Machine) -> None:
    machine.answers("pam-auth-update", "")
    with pytest.raises(NodeError, match=r"common-session.* was edited; run `pam-auth-update --force`"):
        machine.apply()


@pytest.mark.parametrize(
    ("role", "lustre", "accounting", "options"),
    [
        ("login", LUSTRE, "local", " --shared-homes --slurm"),
        ("controller", LUSTRE, "managed", " --shared-homes --slurm"),
        ("compute", LUSTRE, "local", " --shared-homes"),
        ("login", None, "none", ""),
    ],
)
def test_a_login_prepares_what_the_node_has(
    machine: Machine, role: str, lustre: str | None, accounting: str, options: str
) -> None:
    machine.apply(role=role, lustre=lustre, accounting=accounting)
    start = "python3 -E -s -B -m hyperpod_node.login --cluster ml-cluster --node compute-nodes-1"
    assert machine.text(login_hook.COMMAND).endswith(f"    {start}{options}\n")


def test_variables_of_a_user_do_not_reach_the_command_that_runs_as_root(machine: Machine) -> None:
    """PAM passes its variables, at the end of a session also those from a file in the user's home."""
    machine.apply()
    lines = [line for line in machine.text(login_hook.SESSION).splitlines() if "pam_exec" in line]
    assert lines == [f"\toptional\tpam_exec.so quiet type=open_session {login_hook.COMMAND}"]
    script = machine.text(login_hook.COMMAND).replace("/opt/hyperpod-cdk", "/").replace("python3 ", "env #")
    user = {"PAM_USER": "o'hara $x", "PAM_TYPE": "open_session", "PATH": "/usr/bin:/tmp", "PYTHONPATH": "/tmp", "SHELLOPTS": "x"}
    output = subprocess.run(["/bin/sh", "-c", script], env=user, capture_output=True, text=True, check=True).stdout
    assert output.splitlines() == ["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "PAM_TYPE=open_session", "PAM_USER=o'hara $x"]


def domain(**changes: object) -> dict[str, str]:
    """The settings of the domain in sssd.conf."""
    text = sssd_conf.render(a_directory(**changes), PASSWORD, "/fsx/home/%u", None)
    return dict(line.split(" = ", 1) for line in text.partition("[domain/directory]\n")[2].splitlines())


def test_servers_are_used_with_tls_and_a_checked_certificate() -> None:
    found = domain(uris=["ldap://a.example.com", "ldaps://b.example.com"])
    assert found["ldap_uri"] == "ldap://a.example.com, ldaps://b.example.com"
    assert (found["ldap_id_use_start_tls"], found["ldap_tls_reqcert"]) == ("true", "demand")
    assert (found["enumerate"], found["cache_credentials"], found["override_homedir"]) == ("false", "true", "/fsx/home/%u")


@pytest.mark.parametrize(
    ("changes", "access"),
    [
        ({}, {"access_provider": "permit"}),
        ({"allowed_groups": ["a", "b c"]}, {"access_provider": "simple", "simple_allow_groups": "a, b c"}),
        (
            {"access_filter": "(uid=a*)"},
            {"access_provider": "ldap", "ldap_access_order": "filter", "ldap_access_filter": "(uid=a*)"},
        ),
        (
            {"type": "active_directory", "access_filter": "(uid=a*)"},
            {
                "access_provider": "ldap",
                "ldap_access_order": "filter, expire",
                "ldap_access_filter": "(uid=a*)",
                "ldap_account_expire_policy": "ad",
            },
        ),
        (
            {"type": "active_directory"},
            {"access_provider": "ldap", "ldap_access_order": "expire", "ldap_account_expire_policy": "ad"},
        ),
    ],
)
def test_who_may_log_in(changes: dict[str, object], access: dict[str, str]) -> None:
    found = domain(**changes)
    assert {key: value for key, value in found.items() if "access" in key or "allow" in key or "expire" in key} == access


def test_active_directory_has_its_schema_and_options_win() -> None:
    found = domain(type="active_directory", id_mapping=True, max_id=9, options={"ldap_schema": "rfc2307bis", "debug_level": "3"})
    assert (found["ldap_id_mapping"], found["min_id"], found["max_id"]) == ("true", "1001", "9")
    assert (found["ldap_schema"], found["debug_level"]) == ("rfc2307bis", "3")
    assert (domain(type="active_directory")["ldap_schema"], domain(type="active_directory")["case_sensitive"]) == ("ad", "false")
    assert not {"ldap_schema", "case_sensitive"} & domain().keys()


@pytest.mark.parametrize(("secret", "password"), [("plain", "plain"), ('{"username": "x", "password": "p"}', "p"), ("12", "12")])
def test_a_secret_is_the_password_or_has_it(secret: str, password: str) -> None:
    assert sssd_conf.password_in(secret, "arn") == password


@pytest.mark.parametrize("secret", ["", '{"pass": "hunter2"}', '{"password": ""}', "hunter2 ", "hunter2\nx"])
def test_an_unusable_secret_is_reported_without_its_content(secret: str) -> None:
    with pytest.raises(NodeError, match=r"^arn( has no password|: sssd\.conf cannot)") as caught:
        sssd_conf.password_in(secret, "arn")
    assert "hunter2" not in str(caught.value)
