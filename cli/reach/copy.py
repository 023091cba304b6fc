"""`./hpod copy CLUSTER SRC DST`: files and folders from or to a node, by scp through Session Manager."""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from cli.deployment import Deployment
from cli.errors import CommandError
from cli.node_directory import Node
from cli.reach.ssh import login_of, require_aws_cli, with_shell
from cli.reach.ssh_config import Entry, config_text, host_keys, known_hosts, write_private
from cli.remote.shell import Shell
from cli.result import Result

_REMOTE = re.compile(r"([^/:]+):(.*)", re.DOTALL)


def copy(
    deployment: Deployment,
    *,
    source: str,
    destination: str,
    user: str | None,
    identity: Path | None,
    quiet: bool = False,
    shell: Shell | None = None,
) -> Result:
    """Copy a file or folder from or to a node; the name of the node stands before a colon."""
    name = node_of(source, destination)
    if shutil.which("scp") is None:
        raise CommandError("scp: not in PATH", "install OpenSSH's client")
    require_aws_cli()
    directory, shell = with_shell(deployment, shell)
    node = directory.one(name)
    keys = host_keys(shell, node, [node])
    if not keys:
        raise CommandError(f"{node.label}: its sshd sent no host key", f"check it with `{deployment.hpod('ssh', name)}`")
    login = login_of(deployment, user, identity)
    with tempfile.TemporaryDirectory() as folder:
        config, hosts = Path(folder) / "config", Path(folder) / "known_hosts"
        write_private(hosts, known_hosts(keys))
        write_private(config, config_text(deployment.config.name, [Entry(node, (node.instance,))], login, hosts))
        status = subprocess.run(_scp(config, node, source, destination, quiet=quiet), check=False).returncode
    if status:
        raise CommandError(f"scp ended with exit status {status} as user {login.user}", "see its message above, or pass --user")
    data = {"cluster": directory.cluster, "node": node.names, "user": login.user}
    return Result({**data, "source": source, "destination": destination}, [f"copied {source} to {destination}"])


def node_of(source: str, destination: str) -> str:
    """Return the node's name, which must be on one side only."""
    names = [found[1] for path in (source, destination) if (found := _REMOTE.fullmatch(path))]
    if len(names) != 1:
        problem = "both are on nodes" if names else "neither is on a node"
        raise CommandError(
            f"{source} and {destination}: {problem}", "write one of them as NODE:PATH (a local file with `:` as ./NAME)"
        )
    return names[0]


def _scp(config: Path, node: Node, source: str, destination: str, *, quiet: bool) -> list[str]:
    sides = [f"{node.instance}:{found[2]}" if (found := _REMOTE.fullmatch(path)) else path for path in (source, destination)]
    silent = ["-q"] if quiet or not sys.stdout.isatty() else []
    return ["scp", "-F", str(config), *silent, "-r", "-p", "--", *sides]
