"""Prepare the session of a directory user: home, key for ssh between nodes, and Slurm account; PAM starts it as root.

Each part is independent and can run again: a user can log in without the others.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import syslog
from functools import partial
from typing import TYPE_CHECKING

from hyperpod_node import homes
from hyperpod_node.errors import NodeError
from hyperpod_node.slurm import associations
from hyperpod_node.slurm.conf_server import SHELLS
from hyperpod_node.steps import ssh
from hyperpod_node.system import SYSTEM, System

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hyperpod_node.accounts import Account

TIMEOUT_S = 10  # of each Slurm command: the user waits
# sacctmgr's arguments separate names with commas.
SLURM_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@-]*")


def main(arguments: Sequence[str], environment: Mapping[str, str], system: System = SYSTEM) -> int:
    """Prepare the session of PAM_USER; log problems to the journal, as `hyperpod-directory-login`."""
    if environment.get("PAM_TYPE") != "open_session":
        return 0
    options = _parser().parse_args(arguments)
    syslog.openlog("hyperpod-directory-login", facility=syslog.LOG_AUTHPRIV)
    account = system.accounts.user(environment.get("PAM_USER", ""))
    for problem in prepare(account, options, system) if account else ["PAM_USER is unknown"]:
        syslog.syslog(syslog.LOG_WARNING, problem)
    return 0


def prepare(account: Account, options: argparse.Namespace, system: System) -> list[str]:
    """Create what the user lacks; return the problems."""
    parts: list[Callable[[], object]] = [lambda: _create_home(account, options.node, system)]
    if options.shared_homes:
        parts.append(lambda: _let_between_nodes(account, options, system))
    if options.slurm:
        parts.append(lambda: _add_to_slurm(account.name, system))
    problems = []
    for part in parts:
        try:
            part()
        except NodeError as error:
            problems.append(f"{account.name}: {error}")
    return problems


def _create_home(account: Account, node: str, system: System) -> None:
    if (owner := homes.owner(account.home, system)) not in (None, account.uid):
        raise NodeError(f"{account.home} belongs to uid {owner}, but the directory has uid {account.uid}")
    homes.create(account, node=node, system=system, mode=0o700)  # many users of a directory share a primary group


def _let_between_nodes(account: Account, options: argparse.Namespace, system: System) -> None:
    comment = f"{account.name}@{options.cluster}"
    folder = system.path(account.home / ".ssh")
    system.as_user(account, partial(ssh.set_up, folder, (), comment, options.node, system.run))


def _add_to_slurm(user: str, system: System) -> None:
    if not SLURM_NAME.fullmatch(user):
        raise NodeError(f"not added to Slurm's accounting: {user!r} has characters that sacctmgr does not accept")
    if addresses := SHELLS.addresses(system):  # of a login node without sackd
        os.environ["SLURM_CONF_SERVER"] = ",".join(addresses)
    associations.add_user(user, system, TIMEOUT_S)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="hyperpod-directory-login")
    parser.add_argument("--cluster", required=True)
    parser.add_argument("--node", required=True)
    parser.add_argument("--shared-homes", action="store_true")
    parser.add_argument("--slurm", action="store_true")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
