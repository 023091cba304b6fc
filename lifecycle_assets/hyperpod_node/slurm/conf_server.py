"""Where this node's part of Slurm is told the controllers' addresses: in the options of slurmd or sackd, or by every shell."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from hyperpod_node.managed_file import put
from hyperpod_node.slurm import daemon

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hyperpod_node.system import System

OPTIONS = Path("/etc/default")
PROFILE, ENVIRONMENT = Path("/etc/profile.d/hyperpod-slurm.sh"), Path("/etc/environment")
# The last EnvironmentFile counts, whichever others the image's unit reads. A daemon gives up when no controller answers or none
# knows its node yet: it is started again until one does, so that a node survives a controller's absence.
DROP_IN = """\
[Unit]
After={after}
StartLimitIntervalSec=0

[Service]
EnvironmentFile={options}
Restart=on-failure
RestartSec=3
"""


class Client(Protocol):
    """What takes Slurm's configuration from the controllers."""

    def write(self, addresses: Sequence[str], system: System) -> None:
        """Write where the controllers are."""

    def addresses(self, system: System) -> list[str]:
        """What was written last; nothing where our scripts did not come that far."""

    def reload(self, system: System) -> str:
        """Have what was written now count at once where that can be; what an operator reads of it."""


@dataclass(frozen=True)
class Daemon:
    """A daemon with options; its unit waits for the units in ``after``."""

    unit: str
    after: str

    def write(self, addresses: Sequence[str], system: System) -> None:
        """Write the options; they count from the daemon's next start on."""
        put(self._options(system), f"{self.unit.upper()}_OPTIONS=--conf-server={','.join(addresses)}\n")

    def addresses(self, system: System) -> list[str]:
        """The addresses in the options."""
        return _addresses(self._options(system), r"--conf-server=(\S+)")

    def files(self, system: System) -> list[Path]:
        """What the daemon is started with; its unit reads the options."""
        drop_in = DROP_IN.format(after=self.after, options=OPTIONS / self.unit)
        return [self._options(system), daemon.drop_in(self.unit, drop_in, system)]

    def reload(self, system: System) -> str:
        """Have the daemon start again if it runs; nobody waits, as the new controller may not answer for minutes."""
        system.run("systemctl", "--no-block", "try-restart", self.unit)
        daemon.record_files(self.unit, self.files(system), system)
        return f"{self.unit} is restarted"

    def _options(self, system: System) -> Path:
        return system.path(OPTIONS / self.unit)


@dataclass(frozen=True)
class Shells:
    """The commands in all shells, by SLURM_CONF_SERVER: in login shells, and in all that PAM starts."""

    def write(self, addresses: Sequence[str], system: System) -> None:
        """Write the setting where shells that start from now on find it."""
        setting = f"SLURM_CONF_SERVER={','.join(addresses)}"
        put(system.path(PROFILE), f"export {setting}\n")
        environment = system.path(ENVIRONMENT)
        lines = environment.read_text().splitlines() if environment.exists() else []
        others = [line for line in lines if not line.startswith("SLURM_CONF_SERVER=")]
        put(environment, "\n".join([*others, setting]) + "\n")

    def addresses(self, system: System) -> list[str]:
        """The addresses in the setting; of its two places, the one that is written last."""
        return _addresses(system.path(ENVIRONMENT), r"(?m)^SLURM_CONF_SERVER=(\S+)")

    def reload(self, _: System) -> str:
        """Nothing to do: nobody can change the environment of a shell that runs."""
        return "shells that start from now on use it"


SLURMD = Daemon("slurmd", after="munge.service remote-fs.target")  # jobs need /fsx
SACKD = Daemon("sackd", after="munge.service network-online.target")
SHELLS = Shells()
CLIENTS: dict[str, Client] = {"slurmd": SLURMD, "sackd": SACKD, "shells": SHELLS}


def _addresses(path: Path, pattern: str) -> list[str]:
    found = re.search(pattern, path.read_text()) if path.exists() else None
    return found[1].split(",") if found else []
