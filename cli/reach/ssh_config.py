"""Entries for OpenSSH: one per node, with its host keys, which a session reads inside the cluster's network."""

import os
import re
import shlex
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cli.errors import CommandError
from cli.node_directory import Node, first_running
from cli.remote.shell import Shell
from config.instance_group import Role

FOLDER = "hyperpod-cdk"
INCLUDE = f"Include {FOLDER}/*.conf"
_WORD = re.compile(r"[\w.@:/+=,-]+", re.ASCII)
HEADER = "# Written by `./hpod ssh {cluster} --config`, which overwrites changes.\n"
SCAN_S = 10
SCAN_TIMEOUT_S = 120.0
_KEY = re.compile(r"^(\S+) ((?:ssh|ecdsa|sk)-\S+ [A-Za-z0-9+/=]+)$", re.MULTILINE)
HostKeys = Mapping[str, Sequence[str]]
"""Host keys by instance id."""


@dataclass(frozen=True)
class Login:
    """How ssh logs in: the user, the key if it is not a default one, and the AWS profile and region of the session."""

    user: str
    identity: Path | None
    region: str
    profile: str


@dataclass(frozen=True)
class Entry:
    """The host names that ssh accepts for a node."""

    node: Node
    aliases: tuple[str, ...]


def entries(cluster: str, nodes: Sequence[Node]) -> list[Entry]:
    """Return an entry per node; the name of the cluster is a login node, or else a controller."""
    short = {role: [node for node in nodes if node.role == role] for role in (Role.LOGIN, Role.CONTROLLER)}
    firsts = {f"{cluster}-{role.value}": first_running(of_role) for role, of_role in short.items() if of_role}
    entrance = firsts.get(f"{cluster}-{Role.LOGIN.value}") or firsts.get(f"{cluster}-{Role.CONTROLLER.value}")
    if entrance:
        firsts = {cluster: entrance, **firsts}
    return [Entry(node, tuple(dict.fromkeys(_aliases(cluster, node, firsts)))) for node in nodes]


def _aliases(cluster: str, node: Node, firsts: dict[str, Node]) -> Iterator[str]:
    yield from (alias for alias, first in firsts.items() if first == node)
    yield from (f"{cluster}-{name}" for name in (node.name, node.host, node.instance) if name)


def config_text(cluster: str, found: Sequence[Entry], login: Login, known_hosts: Path) -> str:
    """Return the file with the entries."""
    return "\n".join([HEADER.format(cluster=cluster), *(_block(entry, login, known_hosts) for entry in found)])


def _checked(word: str) -> str:
    """Return a word of the file; raise a CommandError for one that ssh could read as more than a word."""
    if not _WORD.fullmatch(word):
        raise CommandError(f"{word!r} is not allowed in an ssh configuration", "use letters, digits and -_.@:/+=,")
    return word


def _block(entry: Entry, login: Login, known_hosts: Path) -> str:
    profile = ["--profile", login.profile.replace("%", "%%")] if login.profile else []
    session = ["aws", "ssm", "start-session", "--region", _checked(login.region), *profile, "--target"]
    session.append(_checked(str(entry.node.target)))
    document = ["--document-name", "AWS-StartSSHSession", "--parameters", "portNumber=%p"]
    identity = [("IdentityFile", _quoted(login.identity)), ("IdentitiesOnly", "yes")] if login.identity else []
    options = [
        ("HostName", _checked(entry.node.instance)),
        ("User", _checked(login.user)),
        *identity,
        ("ProxyCommand", shlex.join([*session, *document])),
        ("UserKnownHostsFile", _quoted(known_hosts)),
        ("StrictHostKeyChecking", "yes"),
    ]
    return f"Host {' '.join(map(_checked, entry.aliases))}\n" + "".join(f"  {name} {value}\n" for name, value in options)


def _quoted(path: Path) -> str:
    """Return the path as ssh reads it, which expands percent signs; raise a CommandError for one that would end the text."""
    if re.search(r'["\x00-\x1f\x7f]', str(path)):
        raise CommandError(
            f"{str(path)!r} is not allowed in an ssh configuration", "use a path without quotes and control characters"
        )
    return '"' + str(path).replace("%", "%%") + '"'


def with_include(text: str) -> str:
    """Return the user's file with our line before all others: below a Host line it would belong to that host only."""
    if any(line.split() == INCLUDE.split() for line in text.splitlines()):
        return text
    return f"{INCLUDE}\n\n{text}" if text else f"{INCLUDE}\n"


def write_private(path: Path, text: str) -> bool:
    """Write a file that only its owner reads, at once or not at all; return whether it changed. A symbolic link stays."""
    path = path.resolve()
    if path.exists() and path.read_text() == text:
        return False
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o600
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(text)
        Path(temporary).chmod(mode)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return True


def host_keys(shell: Shell, through: Node, nodes: Iterable[Node]) -> HostKeys:
    """Return the keys that each node's sshd presents to the node ``through``."""
    by_address = {node.address: node.instance for node in nodes if node.address}
    found: dict[str, list[str]] = {instance: [] for instance in by_address.values()}
    if by_address:
        script = f"ssh-keyscan -T {SCAN_S} {' '.join(by_address)} 2>/dev/null"
        for address, key in _KEY.findall(shell.run(through.target, script, SCAN_TIMEOUT_S).text):
            if address in by_address:
                found[by_address[address]].append(key)
    return {instance: sorted(keys) for instance, keys in found.items() if keys}


def known_hosts(keys: HostKeys) -> str:
    """Return the lines of a known_hosts file whose hosts are instance ids."""
    return "".join(f"{instance} {key}\n" for instance in sorted(keys) for key in keys[instance])
