"""Keep the instance metadata service, and so the keys of the node's role, for root, slurm and administrators.

The rules have their own table, so that those of HyperPod, Docker and administrators are unchanged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperpod_node import packages
from hyperpod_node.accounts import ADMINISTRATOR
from hyperpod_node.errors import NodeError
from hyperpod_node.managed_file import put
from hyperpod_node.metadata_service import TABLE, UNIT, opened
from hyperpod_node.node_settings import ALL
from hyperpod_node.slurm import daemon
from hyperpod_node.system import CODE

if TYPE_CHECKING:
    from hyperpod_node.context import Context
    from hyperpod_node.system import System

INSTALL_TIMEOUT_S = 60  # live steps have 360 s together, the users' scripts 300 s of them
LOCAL = ("slurm", ADMINISTRATOR, "ssm-user")  # ssm-user: of Session Manager, with sudo
FILE = CODE / "metadata.nft"
# HyperPod translates the service's address into that of its role proxy, 169.254.0.2:9081, in a network namespace of its agents,
# whose addresses are of 169.254.0.0/16, before this chain:
# https://github.com/shimomut/sagemaker-solutions, hyperpod_imds_proxy (2025-07).
# A new connection without an owner is refused: the first packet of Multipath TCP has none in older kernels. Other packets without
# an owner are the kernel's, which ends connections of programs that have closed theirs.
RULES = """\
# Written by the lifecycle scripts.
table inet {table}
delete table inet {table}
table inet {table} {{
    set administrators {{
        type uid
        elements = {{ {uids} }}
    }}
    chain output {{
        type filter hook output priority filter; policy accept;
        ct original ip daddr 169.254.169.254 goto owner
        ip daddr {{ 169.254.169.254, 169.254.170.2 }} goto owner
        ip daddr 169.254.0.2 tcp dport 9081 goto owner
        ip6 daddr fd00:ec2::254 goto owner
    }}
    chain owner {{
        meta skuid @administrators accept
        meta skuid != @administrators goto refuse
        tcp flags & (syn | ack) != syn accept
        goto refuse
    }}
    chain forward {{
        type filter hook forward priority filter; policy accept;
        ip saddr 169.254.0.0/16 accept
        ct original ip daddr 169.254.169.254 goto refuse
        ip daddr {{ 169.254.169.254, 169.254.170.2 }} goto refuse
        ip daddr 169.254.0.2 tcp dport 9081 goto refuse
        ip6 daddr fd00:ec2::254 goto refuse
    }}
    chain refuse {{
        meta l4proto tcp reject with tcp reset
        reject
    }}
}}
"""
# A restart or reload of nftables.service deletes all tables.
SERVICE = f"""\
[Unit]
Description=Keep the metadata service for administrators
DefaultDependencies=no
Wants=network-pre.target
Before=network-pre.target shutdown.target
Conflicts=shutdown.target
After=nftables.service
PartOf=nftables.service
ReloadPropagatedFrom=nftables.service
StartLimitIntervalSec=0

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=nft --file {FILE}
ExecReload=nft --file {FILE}

[Install]
WantedBy=sysinit.target
"""


def apply(context: Context, system: System) -> bool:
    """Load the rules, now and at every boot, or remove them if the cluster file allows all users.

    A node that cannot load them works and is open, with a warning: an image without nft must not stop jobs.
    """
    if context.settings.slurm.metadata_access == ALL:
        return _remove(system)
    try:
        _load(RULES.format(table=TABLE, uids=", ".join(map(str, _administrators(context, system)))), system)
    except NodeError as error:
        print(f"warning: all users of this node can use the node role, because its metadata service is not restricted: {error}")
        return True
    if found := opened(system):
        print(f"warning: {found}")
    return True


def _administrators(context: Context, system: System) -> list[int]:
    """Return the uids of root, the image's administrators and users with sudo, not of a directory's users of these names."""
    accounts = system.accounts
    found = [account.uid for name in LOCAL if accounts.is_local(name) and (account := accounts.user(name))]
    return sorted({0, *found, *(user.uid for user in context.settings.users if user.sudo)})


def _load(rules: str, system: System) -> None:
    """Start the service even if nothing changed: another program may have deleted all tables."""
    put(system.path(FILE), rules)
    if put(system.path(daemon.UNITS / f"{UNIT}.service"), SERVICE):
        system.run("systemctl", "daemon-reload")
    system.run("systemctl", "--no-reload", "enable", f"{UNIT}.service")
    if system.find("nft") is None:
        packages.install(["nftables"], system, INSTALL_TIMEOUT_S)
    system.run("systemctl", "restart", f"{UNIT}.service")


def _remove(system: System) -> bool:
    """Delete the table and the service; return whether they existed."""
    unit = system.path(daemon.UNITS / f"{UNIT}.service")
    if not unit.exists():
        return False
    system.run("systemctl", "disable", "--now", f"{UNIT}.service")
    if system.succeeds("nft", "list", "table", "inet", TABLE):
        system.run("nft", "delete", "table", "inet", TABLE)
    for file in (unit, system.path(FILE)):
        file.unlink(missing_ok=True)
    system.run("systemctl", "daemon-reload")
    return True
