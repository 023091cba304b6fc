"""`./hpod ssh CLUSTER [NODE]`: a shell on a node, and entries for OpenSSH."""

import getpass
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from cli.deployment import Deployment
from cli.errors import CommandError
from cli.node_directory import NodeDirectory, node_directory, session_shell
from cli.reach.ssh_config import (
    FOLDER,
    Entry,
    HostKeys,
    Login,
    config_text,
    entries,
    host_keys,
    known_hosts,
    with_include,
    write_private,
)
from cli.remote.sessions import Session, SessionError, missing_plugin
from cli.remote.shell import Shell
from cli.result import Result, Table, Verbatim
from config.printable import printable

AWS_CLI = "https://docs.aws.amazon.com/cli/latest/userguide/getting-started-install.html"
ADMINISTRATOR = "ubuntu"
_USER = re.compile(r"[a-z_][a-z0-9_-]{0,31}")


def ssh(deployment: Deployment, *, node: str | None, user: str | None) -> Result:
    """Open a shell on a node: as root, or as the user."""
    directory, _ = with_shell(deployment)
    chosen = directory.one(node) if node else directory.entrance()
    sessions = session_shell(deployment).sessions
    if user:
        command = f"sudo su - {_checked(user)}"
        session = sessions.start(chosen.target, "AWS-StartInteractiveCommand", {"command": [command]})
    else:
        session = sessions.start(chosen.target)
    if sys.stdin.isatty():
        where = printable(f"{user or 'root'} on {chosen.label} ({chosen.instance})")
        print(f"{where}; leave with `exit`", file=sys.stderr, flush=True)
    status = _open(session)
    if status:
        raise SessionError(f"{chosen.instance}: the session ended with exit status {status}")
    return Result(None)


def _open(session: Session) -> int:
    """Run the plugin at this terminal and return its exit status; Ctrl-C and Ctrl-Z go to the node."""
    keys = [signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP]
    before = {key: signal.signal(key, signal.SIG_IGN) for key in keys}
    try:
        return subprocess.run(session.command, env=session.environment, check=False, restore_signals=True).returncode
    finally:
        for key, handler in before.items():
            signal.signal(key, handler)


def ssh_config(
    deployment: Deployment,
    *,
    user: str | None,
    identity: Path | None,
    only_print: bool,
    home: Path | None = None,
    shell: Shell | None = None,
) -> Result:
    """Write an entry per node for OpenSSH, or only print it."""
    if not only_print:
        require_aws_cli()
    (directory, shell), folder = with_shell(deployment, shell), (home or Path.home()) / ".ssh"
    found, keys = reachable(deployment, directory, shell)
    name = deployment.config.name
    config, hosts = folder / FOLDER / f"{name}.conf", folder / FOLDER / f"{name}.known_hosts"
    login = login_of(deployment, user, identity)
    text = config_text(name, found, login, hosts)
    changed = [] if only_print else _written(folder / "config", {hosts: known_hosts(keys), config: text})
    data = {
        "cluster": directory.cluster,
        "config": str(config),
        "known_hosts": str(hosts),
        "user": login.user,
        "changed": [str(path) for path in changed],
        "text": text,
        "nodes": [
            {**entry.node.names, "aliases": list(entry.aliases), "has_host_key": entry.node.instance in keys} for entry in found
        ],
    }
    if only_print:
        return Result(data, [Verbatim(text.rstrip("\n"))])
    summary = f"written: {', '.join(map(str, changed))}" if changed else f"{config} is up to date"
    return Result(data, [summary, _table(found, keys), *_notes(deployment, login, found, keys)])


def reachable(deployment: Deployment, directory: NodeDirectory, shell: Shell) -> tuple[list[Entry], HostKeys]:
    """Return the entries of the nodes that are Running, and their host keys."""
    running = [node for node in directory.named if node.status == "Running"]
    if not running:
        raise CommandError(f"cluster {directory.cluster} has no Running node", f"see `{deployment.hpod('status')}`")
    return entries(deployment.config.name, running), host_keys(shell, directory.entrance(), running)


def login_of(deployment: Deployment, user: str | None, identity: Path | None) -> Login:
    """Return the login: by default of the cluster's user of this name, or else of ubuntu."""
    local = getpass.getuser()
    default = local if local in {each.name for each in deployment.config.users} else ADMINISTRATOR
    return Login(
        _checked(user) if user else default,
        identity.expanduser().absolute() if identity else None,
        deployment.region,
        # The AWS CLI takes --profile before keys in the environment, which boto3 has used here.
        deployment.profile or ("" if "AWS_ACCESS_KEY_ID" in os.environ else os.environ.get("AWS_PROFILE", "")),
    )


def with_shell(deployment: Deployment, shell: Shell | None = None) -> tuple[NodeDirectory, Shell]:
    """Return the nodes and a shell on them; raise a CommandError if the Session Manager plugin cannot be used."""
    if shell is None:
        if problem := missing_plugin():
            raise problem
        shell = session_shell(deployment)
    return node_directory(deployment, shell), shell


def require_aws_cli() -> None:
    """Raise a CommandError without the AWS CLI, which ssh runs as ProxyCommand."""
    if shutil.which("aws") is None:
        raise CommandError("aws: not in PATH", f"install the AWS CLI: {AWS_CLI}")


def _checked(user: str) -> str:
    if not _USER.fullmatch(user):
        raise CommandError(f"--user {user}: not a user name", "pass lower-case letters, digits, hyphens and underscores")
    return user


def _written(user_config: Path, ours: dict[Path, str]) -> list[Path]:
    """Write the files and the line that includes them; return those that changed."""
    before = user_config.read_text() if user_config.exists() else ""
    files = {**ours, user_config: with_include(before)}
    return [path for path, text in files.items() if write_private(path, text)]


def _table(found: list[Entry], keys: HostKeys) -> Table:
    rows = [
        (entry.node.instance, entry.aliases[0], "" if entry.node.instance in keys else "no host key: ssh refuses")
        for entry in found
    ]
    return Table(("NODE", "SSH", ""), rows)


def _notes(deployment: Deployment, login: Login, found: list[Entry], keys: HostKeys) -> list[str]:
    notes = [f"log in with `ssh {found[0].aliases[0]}`; run this command again when nodes are added or replaced"]
    if not {entry.node.instance for entry in found} <= keys.keys():
        notes.append(f"some nodes sent no host key; when sshd runs there, run `{deployment.hpod('ssh', '--config')}` again")
    if login.user == ADMINISTRATOR:
        notes.append(f"the cluster file installs no key for {ADMINISTRATOR}; pass --user NAME for one of its `users`")
    return notes
