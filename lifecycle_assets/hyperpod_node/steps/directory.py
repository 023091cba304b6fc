"""Set up SSSD for the users of a directory: lookups, logins with keys or passwords, sudo, and what PAM does at a login.

A problem of the directory fails login nodes, so that a deployment without working logins does not succeed. Other nodes only warn:
jobs must run while the directory is down, and SSSD connects as soon as the directory responds. A login node warns too if the
directory accepted the same settings before: an outage must not fail a deployment of other changes.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node import homes, packages, secret
from hyperpod_node.directory import ldap, login_hook, sssd_conf
from hyperpod_node.errors import NodeError
from hyperpod_node.managed_file import put, put_sudo_rules
from hyperpod_node.node_settings import Directory
from hyperpod_node.provisioning_parameters import CONTROLLER, LOGIN
from hyperpod_node.slurm import daemon
from hyperpod_node.steps import removed_users

if TYPE_CHECKING:
    from hyperpod_node.context import Context
    from hyperpod_node.system import System

CONF, AUTHORITIES = Path("/etc/sssd/sssd.conf"), Path("/etc/sssd/directory-ca.pem")
CACHES = Path("/var/lib/sss")
SUDOERS = Path("/etc/sudoers.d/hyperpod-directory")
SSHD, SSH_UNIT = Path("/etc/ssh/sshd_config.d/10-hyperpod-directory.conf"), "ssh"
# This package starts sshd with its own AuthorizedKeysCommand. It has no use here: instances belong to HyperPod's account.
INSTANCE_CONNECT = Path("systemd/system/ssh.service.d/ec2-instance-connect.conf")
NSSWITCH, DATABASES = Path("/etc/nsswitch.conf"), ("passwd", "group", "shadow")
PACKAGES = {"usr/sbin/sssd": "sssd-ldap", "libnss_sss.so.2": "libnss-sss", "security/pam_sss.so": "libpam-sss"}
ACCEPTED = daemon.STARTED_WITH / "directory.accepted"
OUTAGE_S, GROUPS_S = 60, 10
LIVE_PACKAGES_S = 150  # less than the agent allows for all live steps


def apply(context: Context, system: System) -> bool:
    """Make the directory's users known, or forget a directory that the cluster file had before."""
    return _apply(context, system, is_required=context.role == LOGIN, packages_s=packages.TIMEOUT_S)


def apply_live(context: Context, system: System) -> bool:
    """Do the same on a running node; without a login group, controllers verify the settings."""
    verifiers = CONTROLLER if context.parameters.login_group is None else LOGIN
    return _apply(context, system, is_required=context.role == verifiers, packages_s=LIVE_PACKAGES_S)


def _apply(context: Context, system: System, *, is_required: bool, packages_s: float) -> bool:
    directory = context.settings.directory
    if directory is None:
        return _remove(system)
    try:
        _install(system, packages_s)
        _set_up(context, directory, system)
    except NodeError as error:
        if is_required and not _was_accepted(directory, system):
            raise NodeError(f"no user of the directory can log in: {error}") from None
        print(f"warning: {error}; the users of the directory are unknown on this node until that is fixed")
    return True


def _set_up(context: Context, directory: Directory, system: System) -> None:
    authorities = _put_authorities(directory, system)
    put(system.path(NSSWITCH), with_sss(system.path(NSSWITCH).read_text()))
    _put_sudoers(directory, system)
    _configure_sshd(directory, system)
    login_hook.install(context, system)
    password = sssd_conf.password_in(secret.read(directory.secret_arn, system), directory.secret_arn)
    _run_sssd(context, directory, password, system)
    _require_accepted(directory, password, authorities, system)
    put(system.path(ACCEPTED), _digest(directory))
    _warn_about_groups(directory, system)
    removed_users.leave_to_directory(system)


def _install(system: System, timeout_s: float) -> None:
    missing = [package for file, package in PACKAGES.items() if not _has(file, system)]
    if missing:
        packages.install(missing, system, timeout_s)


def _has(file: str, system: System) -> bool:
    folders = ("", "lib/", "lib/*/", "usr/lib/", "usr/lib/*/")
    return any(True for folder in folders for _ in system.root.glob(f"{folder}{file}"))


def _put_authorities(directory: Directory, system: System) -> Path | None:
    file = system.path(AUTHORITIES)
    if directory.ca_certificates is None:
        file.unlink(missing_ok=True)
        return None
    put(file, directory.ca_certificates)
    return file


def with_sss(nsswitch: str) -> str:
    """Return nsswitch.conf with SSSD after the sources of users and groups that it has; local accounts stay first."""
    lines = nsswitch.splitlines()
    for index, line in enumerate(lines):
        name, _, sources = line.partition(":")
        if name.strip() in DATABASES and "sss" not in sources.split():
            lines[index] = f"{line.rstrip()} sss"
    return "\n".join(lines) + "\n"


def _put_sudoers(directory: Directory, system: System) -> None:
    """Write the sudo rules; no password is asked, as for local users."""
    groups = (name.replace(" ", "\\ ") for name in directory.administrators)
    content = sssd_conf.HEADER + "".join(f"%{name} ALL=(ALL) NOPASSWD:ALL\n" for name in groups)
    put_sudo_rules(system.path(SUDOERS), content, system)


def _configure_sshd(directory: Directory, system: System) -> None:
    keys = "AuthorizedKeysCommand /usr/bin/sss_ssh_authorizedkeys\nAuthorizedKeysCommandUser nobody\n"
    lines = keys if directory.ssh_public_key_attribute else ""
    lines += "PasswordAuthentication yes\n" if directory.ssh_passwords else ""
    changed = put(system.path(SSHD), sssd_conf.HEADER + lines)
    if any(system.path(folder / INSTANCE_CONNECT).exists() for folder in (Path("/lib"), Path("/usr/lib"))):
        changed |= put(system.path("/etc" / INSTANCE_CONNECT), sssd_conf.HEADER)
    if changed:
        system.run("systemctl", "daemon-reload")
        system.run("systemctl", "try-restart", SSH_UNIT)  # sessions go on


def _run_sssd(context: Context, directory: Directory, password: str, system: System) -> None:
    conf, authorities = system.path(CONF), system.path(AUTHORITIES)
    home = directory.home_directory or f"{homes.folder(context)}/%u"
    put(conf, sssd_conf.render(directory, password, home, AUTHORITIES if directory.ca_certificates else None), mode=0o600)
    _disable_sockets(system)
    daemon.ensure_running("sssd", [conf, authorities], system)


def _disable_sockets(system: System) -> None:
    """Disable Debian's sockets for responders, which fail beside `services` in sssd.conf."""
    enabled = sorted(file.name for file in system.path("/etc/systemd/system/sssd.service.wants").glob("sssd-*.socket"))
    if enabled:
        system.run("systemctl", "disable", "--now", *enabled)


def _require_accepted(directory: Directory, password: str, authorities: Path | None, system: System) -> None:
    """Raise unless a server accepts the settings; wait a minute for one, as the network may be new.

    Retry no refused bind: Active Directory locks the account of the bind DN after a few.
    """
    login = ldap.Login(directory.bind_dn, password, directory.search_base)

    def refusal() -> str:
        unreachable = []
        for uri in directory.uris:
            try:
                ldap.check(uri, login, authorities)
            except ldap.UnreachableError as error:
                unreachable.append(str(error))
            except NodeError as error:
                return str(error)
            else:
                return ""
        raise NodeError(" | ".join(unreachable))

    if problem := system.retry("the directory", refusal, OUTAGE_S, is_outside=True):
        raise NodeError(problem)


def _was_accepted(directory: Directory, system: System) -> bool:
    file = system.path(ACCEPTED)
    return file.exists() and file.read_text() == _digest(directory)


def _digest(directory: Directory) -> str:
    return hashlib.sha256(repr(directory).encode()).hexdigest()


def _warn_about_groups(directory: Directory, system: System) -> None:
    """Warn about groups that SSSD does not find: their members cannot log in or use sudo."""
    missing = list(dict.fromkeys((*directory.allowed_groups, *directory.sudo_groups)))

    def require_all() -> None:
        missing[:] = [name for name in missing if not system.succeeds("getent", "group", name, timeout_s=10)]
        if missing:
            raise NodeError(f"SSSD does not find {', '.join(missing)}")

    try:  # SSSD may not be connected yet
        system.retry("the groups of the directory", require_all, GROUPS_S, longest_pause_s=15)
    except NodeError:
        names = ", ".join(map(repr, missing))
        print(f"warning: the directory has no group {names}; check the name, `search_base` and `ldap_schema` in `options`")


def _remove(system: System) -> bool:
    """Stop SSSD and delete its files and caches, if this step wrote its configuration.

    Lookups read the cache in `mc` even while SSSD is stopped; `db` has hashes of passwords.
    """
    conf = system.path(CONF)
    if not conf.exists() or not conf.read_text().startswith(sssd_conf.HEADER):
        return False
    system.run("systemctl", "disable", "--now", "sssd")
    login_hook.remove(system)
    for file in (SUDOERS, AUTHORITIES, SSHD, "/etc" / INSTANCE_CONNECT, ACCEPTED, CONF):
        system.path(file).unlink(missing_ok=True)
    for file in (*system.path(CACHES / "mc").glob("*"), *system.path(CACHES / "db").glob("*")):
        file.unlink()
    system.run("systemctl", "daemon-reload")
    system.run("systemctl", "try-restart", SSH_UNIT)
    return True
