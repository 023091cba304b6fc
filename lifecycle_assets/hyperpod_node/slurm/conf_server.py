"""The controllers' addresses on this node: in the options of slurmd or sackd, or in the environment of shells."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError
from hyperpod_node.managed_file import put
from hyperpod_node.slurm import daemon

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hyperpod_node.system import System

OPTIONS = Path("/etc/default")
EXEC_TIMEOUT_S = 30  # systemd may report a process that ends or is not yet the daemon
PROFILE, ENVIRONMENT = Path("/etc/profile.d/hyperpod-slurm.sh"), Path("/etc/environment")
# The last EnvironmentFile overrides those of the image's unit. HyperPod's units need not name the variable: AWS's start_slurm.sh
# replaces it by its value (envsubst). So the drop-in has the whole command, where our options come last and count. A daemon exits
# if no controller responds or knows its node, so systemd restarts it until one does.
DROP_IN = """\
[Unit]
After={after}
StartLimitIntervalSec=0

[Service]
EnvironmentFile={options}
ExecStart=
ExecStart={command}
Restart={restart}
RestartSec=3
"""


@dataclass(frozen=True)
class Daemon:
    """A daemon with options that gets Slurm's configuration from the controllers; its unit waits for the units in ``after``."""

    unit: str
    after: str
    restart: str = "on-failure"

    def write(self, addresses: Sequence[str], system: System, more: str | None = None) -> None:
        """Write the options, which the daemon reads when it starts; without ``more``, keep the others that were written last."""
        path = self._options(system)
        if more is None:
            found = re.search(r"--conf-server=\S+ (.+)", path.read_text()) if path.exists() else None
            more = found[1] if found else ""
        put(path, f"{self._variable}=--conf-server={','.join(addresses)} {more}".rstrip() + "\n")

    def addresses(self, system: System) -> list[str]:
        """Return the addresses in the options; empty if there are none yet."""
        return _addresses(self._options(system), r"--conf-server=(\S+)")

    def files(self, system: System) -> list[Path]:
        """Return the files that the daemon is started with, after updating its unit."""
        options = OPTIONS / self.unit
        drop_in = DROP_IN.format(after=self.after, options=options, command=self._command(system), restart=self.restart)
        daemon.drop_in(self.unit, drop_in, system)
        return self._files(system)

    def reload(self, system: System) -> str:
        """Restart the daemon if it runs, and return the effect; do not wait: the new controller may not respond for minutes."""
        system.run("systemctl", "--no-block", "try-restart", self.unit)
        daemon.record_files(self.unit, self._files(system), system)
        return f"{self.unit} is restarted"

    def require_options(self, system: System) -> None:
        """Raise if the daemon runs without its options; while systemd restarts it, check the command that systemd starts."""
        system.retry(f"the options of {self.unit}", lambda: self._require_options(system), EXEC_TIMEOUT_S, first_pause_s=0.2)

    def _require_options(self, system: System) -> None:
        command = daemon.command_line(self.unit, system)
        options = shlex.split(self._options(system).read_text().partition("=")[2])
        if command[-len(options) :] != options and command[-1:] != [f"${self._variable}"]:
            raise NodeError(
                f"it runs as `{' '.join(command)}`, without the options in {self._options(system)}; "
                f"remove the file that sets ExecStart after {daemon.DROP_IN}: systemctl cat {self.unit}"
            )

    def _command(self, system: System) -> str:
        """Return the unit's own command, with its literal options, and with ours at the end."""
        command = re.sub(rf"\s*\$(?:{self._variable}\b|{{{self._variable}}})", "", daemon.command_of(self.unit, system))
        return f"{command} ${self._variable}"

    @property
    def _variable(self) -> str:
        return f"{self.unit.upper()}_OPTIONS"

    def _files(self, system: System) -> list[Path]:
        return [self._options(system), system.path(daemon.UNITS / f"{self.unit}.service.d" / daemon.DROP_IN)]

    def _options(self, system: System) -> Path:
        return system.path(OPTIONS / self.unit)


@dataclass(frozen=True)
class Shells:
    """Slurm's commands in all shells, through SLURM_CONF_SERVER: in login shells and in PAM sessions."""

    def write(self, addresses: Sequence[str], system: System) -> None:
        """Write the variable for new shells."""
        setting = f"SLURM_CONF_SERVER={','.join(addresses)}"
        put(system.path(PROFILE), f"export {setting}\n")
        environment = system.path(ENVIRONMENT)
        lines = environment.read_text().splitlines() if environment.exists() else []
        others = [line for line in lines if not line.startswith("SLURM_CONF_SERVER=")]
        put(environment, "\n".join([*others, setting]) + "\n")

    def addresses(self, system: System) -> list[str]:
        """Return the addresses in the variable, from the file that is written last."""
        return _addresses(system.path(ENVIRONMENT), r"(?m)^SLURM_CONF_SERVER=(\S+)")

    def reload(self, _: System) -> str:
        """Do nothing: the environment of a running shell cannot be changed."""
        return "new shells use it"


SLURMD = Daemon("slurmd", after="munge.service remote-fs.target")  # jobs need /fsx
# At each reconfiguration, sackd hands over to a new process and ends with status 0: Slurm 24.11, src/sackd/sackd.c. If systemd
# loses the new one, it deletes the configuration, and Slurm's commands fail until sackd starts again.
SACKD = Daemon("sackd", after="munge.service network-online.target", restart="always")
SHELLS = Shells()
CLIENTS: dict[str, Daemon | Shells] = {"slurmd": SLURMD, "sackd": SACKD, "shells": SHELLS}


def _addresses(path: Path, pattern: str) -> list[str]:
    found = re.search(pattern, path.read_text()) if path.exists() else None
    return found[1].split(",") if found else []
