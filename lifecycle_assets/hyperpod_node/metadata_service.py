"""Watch whether users can connect to the metadata service; steps/metadata_access.py restricts it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError
from hyperpod_node.node_settings import ALL

if TYPE_CHECKING:
    from hyperpod_node.context import Context
    from hyperpod_node.system import System

TABLE, UNIT = "hyperpod_metadata", "hyperpod-metadata"
PLACES = (("169.254.169.254", 80), ("169.254.0.2", 9081), ("fd00:ec2::254", 80))
RELOADED = "another program deleted the rules of the metadata service; the agent loaded them again"


def warning(context: Context, system: System) -> str:
    """Load the rules again if another program deleted them; return what an operator must know, or nothing."""
    if context.settings.slurm.metadata_access == ALL:
        return ""
    is_deleted = not system.succeeds("nft", "list", "table", "inet", TABLE)
    is_loaded = is_deleted and system.succeeds("systemctl", "restart", f"{UNIT}.service")
    return opened(system) or (RELOADED if is_loaded else "")


def opened(system: System) -> str:
    """Return that a user can connect to the metadata service, whatever the rules are, or nothing."""

    def connect() -> None:
        for address, port in PLACES:
            try:
                system.connect(address, port)
            except NodeError:
                continue
            raise NodeError(f"all users of this node can use the node role: {address} accepts their connections")

    account = system.accounts.user("nobody")
    try:
        if account:
            system.as_user(account, connect)
    except NodeError as error:
        return str(error)
    return ""
