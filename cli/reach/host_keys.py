"""SSH host keys of nodes, read inside the cluster's network through a session."""

import re
from collections.abc import Iterable, Mapping, Sequence

from cli.node_directory import Node
from cli.remote.shell import Shell

SCAN_S = 10
TIMEOUT_S = 120.0
_KEY = re.compile(r"^(\S+) ((?:ssh|ecdsa|sk)-\S+ [A-Za-z0-9+/=]+)$", re.MULTILINE)

HostKeys = Mapping[str, Sequence[str]]
"""Host keys by instance id."""


def host_keys(shell: Shell, through: Node, nodes: Iterable[Node]) -> HostKeys:
    """Return the keys that each node's sshd presents to the node ``through``."""
    by_address = {node.address: node.instance for node in nodes if node.address}
    found: dict[str, list[str]] = {instance: [] for instance in by_address.values()}
    if by_address:
        script = f"ssh-keyscan -T {SCAN_S} {' '.join(by_address)} 2>/dev/null"
        for address, key in _KEY.findall(shell.run(through.target, script, TIMEOUT_S).text):
            if address in by_address:
                found[by_address[address]].append(key)
    return {instance: sorted(keys) for instance, keys in found.items() if keys}


def known_hosts(keys: HostKeys) -> str:
    """Return the lines of a known_hosts file whose hosts are instance ids."""
    return "".join(f"{instance} {key}\n" for instance in sorted(keys) for key in keys[instance])
