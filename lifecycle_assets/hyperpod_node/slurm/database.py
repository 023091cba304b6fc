"""The database of slurmdbd: MariaDB on this node, or an external MySQL server."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node import packages, secret
from hyperpod_node.errors import NodeError
from hyperpod_node.managed_file import put
from hyperpod_node.server_certificate import CertificateError
from hyperpod_node.slurm import daemon

if TYPE_CHECKING:
    from hyperpod_node.node_settings import Accounting
    from hyperpod_node.system import System

NAME = "slurm_acct_db"
USER = "slurm"  # slurmdbd's account on the node and in the local database: the socket authenticates it
TIMEOUT_S = 120
VERIFICATION_S = 30
# No network: slurmdbd and root connect through the socket, where the kernel authenticates them, so no password is needed.
# slurmdbd requires these values of buffer and timeout; its guide (https://slurm.schedmd.com/accounting.html) names 4 GiB, but
# slurmdbd accepts half of that without a warning.
SERVER_FILE = Path("/etc/mysql/mariadb.conf.d/90-hyperpod-cdk.cnf")
SERVER = """\
[mariadbd]
skip-networking
innodb_buffer_pool_size={buffer_mib}M
innodb_log_file_size=64M
innodb_lock_wait_timeout=900
"""
GRANT = f"""\
CREATE DATABASE IF NOT EXISTS {NAME};
CREATE USER IF NOT EXISTS {USER}@localhost IDENTIFIED VIA unix_socket;
ALTER USER {USER}@localhost IDENTIFIED VIA unix_socket;
GRANT ALL ON {NAME}.* TO {USER}@localhost;
"""
# The CA certificates of the server, from the image or a script in `lifecycle.extra/before_slurm`.
AUTHORITIES = Path("/etc/ssl/certs/slurm-database.pem")
RDS_FILE = "slurm-database.pem"


@dataclass(frozen=True)
class Database:
    """The connection of slurmdbd to its database."""

    host: str
    user: str
    port: int | None = None
    password: str | None = field(default=None, repr=False)
    authorities: Path | None = None


@dataclass(frozen=True)
class Authorities:
    """The certificate authorities of an external database, in the file from which slurmdbd reads them."""

    file: Path
    text: str
    is_shipped: bool

    @classmethod
    def of(cls, accounting: Accounting, system: System) -> Authorities | None:
        """Return those on the node or, without any, those of RDS for the database's region."""
        own, shipped = system.path(AUTHORITIES), accounting.authorities
        if own.exists():
            return cls(own, own.read_text(encoding="ascii", errors="ignore"), is_shipped=False)  # comments have any language
        return cls(system.slurm_etc / RDS_FILE, shipped, is_shipped=True) if shipped else None

    def prepare(self, accounting: Accounting, system: System) -> None:
        """Write the file. Raise a NodeError if slurmdbd would send its password for the first time to another server."""
        try:
            self.verify(accounting, system)
        except (NodeError, CertificateError) as error:  # without an answer, slurmdbd verifies the authority when it connects
            if isinstance(error, CertificateError) and not self.file.exists():
                raise NodeError(f"the accounting database does not prove who it is: {error}") from None
            print(f"warning: the accounting database is not verified: {error}")
        self.write()

    def verify(self, accounting: Accounting, system: System) -> None:
        """Raise a CertificateError unless the server has a certificate of an authority; a NodeError: no answer."""
        host = accounting.host or ""
        verify = partial(system.verify, host, accounting.port, self.text)
        system.retry(f"the database at {host}", verify, VERIFICATION_S, longest_pause_s=5)

    def write(self) -> None:
        """Write the file, unless it is the node's own; slurmdbd reads it for each connection."""
        if self.is_shipped:
            put(self.file, self.text)


def local(system: System) -> Database:
    """Run MariaDB on this node, with a database for the user slurm."""
    if not system.find("mariadbd"):
        packages.install(("mariadb-server",), system)
    file = system.path(SERVER_FILE)
    memory_mib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20
    put(file, SERVER.format(buffer_mib=min(2048, memory_mib // 4)))
    daemon.ensure_running("mariadb", [file], system)
    system.retry("MariaDB", lambda: system.run("mariadb", stdin=GRANT), TIMEOUT_S, first_pause_s=0.1)
    return Database("localhost", USER)


def external(accounting: Accounting, system: System) -> Database:
    """Return the server of the cluster file, with user and password from Secrets Manager."""
    arn = accounting.secret_arn or ""
    authorities = Authorities.of(accounting, system)
    if authorities:
        authorities.prepare(accounting, system)
    else:
        print(f"the connection to {accounting.host} is encrypted only if the server requires it: {AUTHORITIES} does not exist")
    content = _secret(arn, system)
    return Database(
        host=accounting.host or "",
        port=accounting.port,
        user=_text(content, "username", arn),
        password=_text(content, "password", arn),
        authorities=authorities.file if authorities else None,
    )


def _secret(arn: str, system: System) -> dict[str, object]:
    try:
        content = json.loads(secret.read(arn, system))
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise NodeError(f"{arn} is not a JSON object; use a secret in the format of RDS")  # never print the secret
    return content


def _text(content: dict[str, object], key: str, arn: str) -> str:
    value = content.get(key)
    if not isinstance(value, str) or not value:
        raise NodeError(f"{arn} has no string {key!r}; its keys are {sorted(content)}")
    return value
