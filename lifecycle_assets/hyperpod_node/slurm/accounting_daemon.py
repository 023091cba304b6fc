"""Start slurmdbd, which connects Slurm to the accounting database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError
from hyperpod_node.managed_file import put
from hyperpod_node.server_certificate import CertificateError
from hyperpod_node.slurm import daemon
from hyperpod_node.slurm.database import NAME, USER, Authorities

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hyperpod_node.node_settings import Accounting
    from hyperpod_node.slurm.database import Database
    from hyperpod_node.slurm.slurm_conf import Controller
    from hyperpod_node.system import System

TIMEOUT_S = 180
# slurmdbd exits if the database does not respond, so systemd restarts it until it does, also at boot.
DROP_IN = """\
[Unit]
After=munge.service mariadb.service network-online.target
StartLimitIntervalSec=0

[Service]
Restart=on-failure
RestartSec=1
RuntimeDirectory=slurmdbd
"""


def start(database: Database, hosts: Sequence[Controller], system: System) -> None:
    """Run slurmdbd on this node with ``database``, and wait until it responds."""
    _run(render(database, hosts), system)
    _wait(database.host, system)


def add_authorities(accounting: Accounting, system: System) -> None:
    """Let the running slurmdbd verify its external database; after a failure, go back."""
    file, host = system.slurm_etc / "slurmdbd.conf", accounting.host or ""
    text = file.read_text() if file.exists() else ""
    authorities = Authorities.of(accounting, system)
    if authorities is None or f"StorageHost={host}\n" not in text:
        return
    line = f"StorageParameters=SSL_CA={authorities.file}\n"
    if "StorageParameters=" in text:
        if line in text:
            authorities.write()
        return
    try:
        authorities.verify(accounting, system)
        authorities.write()
        _verify_with(line, text, host, system)
    except (NodeError, CertificateError) as error:
        print(f"warning: slurmdbd does not verify the database at {host}: {error}")


def _verify_with(line: str, text: str, host: str, system: System) -> None:
    """Add the line to slurmdbd's configuration, and wait until it responds; after a failure, go back."""
    try:
        _run(f"{text}{line}", system)
        _wait(host, system)
    except NodeError:
        _run(text, system)
        raise


def _run(conf: str, system: System) -> None:
    file = system.slurm_etc / "slurmdbd.conf"
    put(file, conf, mode=0o600, owner=system.owner_of(USER))
    daemon.provide("slurmdbd", "Slurm's accounting daemon", f"User=slurm\nExecStart={system.find('slurmdbd')} -D -s", system)
    drop_in = daemon.drop_in("slurmdbd", DROP_IN, system)
    daemon.ensure_running("slurmdbd", [file, drop_in], system)


def _wait(host: str, system: System) -> None:
    daemon.wait_for("slurmdbd", f"slurmdbd, with the database at {host}", lambda: _answers(system), TIMEOUT_S, system)


def wait_for_images(host: str | None, system: System) -> None:
    """Wait until the slurmdbd that HyperPod starts responds."""
    what, file = f"HyperPod's slurmdbd, with the database at {host or 'localhost'}", system.slurm_etc / "slurmdbd.conf"

    def attempt() -> None:
        try:
            _answers(system)
        except NodeError as error:
            if host or file.exists():
                raise
            fix = "disable slurmdbd in a script in before_slurm/ to use ours"
            raise NodeError(f"{file} is missing: the image enables slurmdbd but does not configure it; {fix}") from error

    daemon.wait_for("slurmdbd", what, attempt, TIMEOUT_S, system)


def is_up(system: System) -> bool:
    """Return whether slurmdbd responds."""
    try:
        _answers(system)
    except NodeError:
        return False
    return True


def render(database: Database, hosts: Sequence[Controller]) -> str:
    """Return slurmdbd.conf, the only file with the password."""
    lines = {
        "AuthType": "auth/munge",
        "DbdHost": hosts[0].name,
        "DbdBackupHost": hosts[1].name if len(hosts) > 1 else None,
        "SlurmUser": USER,
        "LogFile": "/var/log/slurm/slurmdbd.log",
        "PidFile": "/run/slurmdbd/slurmdbd.pid",
        "StorageType": "accounting_storage/mysql",
        "StorageHost": database.host,
        "StoragePort": str(database.port) if database.port else None,
        "StorageUser": database.user,
        "StoragePass": _quoted(database.password) if database.password else None,
        "StorageLoc": NAME,
        "StorageParameters": f"SSL_CA={database.authorities}" if database.authorities else None,
    }
    return "".join(f"{key}={value}\n" for key, value in lines.items() if value is not None)


def _quoted(password: str) -> str:
    """Return ``password`` quoted for Slurm's parser."""
    if '"' in password or "\n" in password:
        raise NodeError("the database password has a double quote or a line break, which slurmdbd.conf cannot contain; change it")
    return '"' + password.replace("\\", "\\\\").replace("#", "\\#") + '"'


def _answers(system: System) -> None:
    system.slurm("sacctmgr", "--noheader", "--parsable2", "show", "cluster", "format=cluster", timeout_s=30)
