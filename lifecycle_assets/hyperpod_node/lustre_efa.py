"""Lustre over EFA: the network set-up that AWS documents for clients of FSx, at once and before every later mount.

https://docs.aws.amazon.com/fsx/latest/LustreGuide/configure-efa-clients.html; its package to download is not used, because a
node must not depend on what somebody changes elsewhere. A systemd unit does the work, so that a reboot takes the same way.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError
from hyperpod_node.managed_file import put
from hyperpod_node.shell import last_lines

if TYPE_CHECKING:
    from hyperpod_node.shell import Run

UNIT = "lustre-over-efa.service"
EIGHT_INTERFACES = ("ml.p5.48xlarge", "ml.p5e.48xlarge", "ml.p5en.48xlarge", "ml.p6-b200.48xlarge", "ml.p6e-gb200.36xlarge")
OTHERWISE = 2
PEER_CREDITS = 32


@dataclass(frozen=True)
class Places:
    """Where a node lists its EFA devices and its route, and keeps programs and units."""

    devices: Path = Path("/sys/class/infiniband")
    routes: Path = Path("/proc/net/route")
    program: Path = Path("/opt/hyperpod-cdk/lustre-over-efa.sh")
    units: Path = Path("/etc/systemd/system")


PLACES = Places()


def set_up(instance_type: str, places: Places, run: Run) -> None:
    """Have Lustre's network use this node's EFA devices, now and after a reboot."""
    if not (devices := efa_devices(places.devices)):
        raise NodeError(f"no EFA device in {places.devices}, though the type has EFA")
    run("modinfo", "kefalnd")  # the Lustre client's module for EFA: not every AMI has it
    chosen = spread(devices, 8 if instance_type in EIGHT_INTERFACES else OTHERWISE)
    changed = put(places.program, program(default_interface(places.routes), chosen), mode=0o755)
    changed |= put(places.units / UNIT, unit(places.program))
    if changed:
        run("systemctl", "enable", UNIT)
    try:
        run("systemctl", "start", UNIT, timeout_s=120)
    except NodeError:
        said = run("journalctl", "--boot", "--unit", UNIT, "--lines", "5", "--output", "cat", "--no-pager")
        raise NodeError(f"{places.program} failed: {last_lines(said)}") from None


def efa_devices(folder: Path) -> list[str]:
    """The names of this node's EFA devices."""
    devices = folder.iterdir() if folder.is_dir() else ()
    return sorted(device.name for device in devices if (device / "device/driver").resolve().name == "efa")


def spread(devices: list[str], wanted: int) -> list[str]:
    """So many devices, evenly over all: neighbours share a bus."""
    count = min(wanted, len(devices))
    return [devices[at * len(devices) // count] for at in range(count)]


def default_interface(routes: Path) -> str:
    """The interface of the default route, over which Lustre's TCP goes."""
    for line in routes.read_text().splitlines()[1:]:
        interface, destination = line.split()[:2]
        if destination == "00000000":
            return interface
    raise NodeError(f"no default route in {routes}, so no interface for Lustre's TCP")


def program(interface: str, devices: list[str]) -> str:
    """The shell script that sets Lustre's network up; TCP comes first, so that it stays when EFA fails."""
    add = "\n".join(f"lnetctl net add --net efa --if {device} --peer-credits {PEER_CREDITS}" for device in devices)
    return f"""#!/bin/bash
# Written by the lifecycle scripts: Lustre over EFA, before /fsx is mounted.
set -euo pipefail
modprobe lnet
modprobe ksocklnd
lnetctl lnet configure
[[ $(lnetctl net show --net tcp) == *@tcp* ]] || lnetctl net add --net tcp --if {interface}
if [[ $(lnetctl net show --net efa) == *@efa* ]]; then exit 0; fi
modprobe kefalnd ipif_name={interface}
{add}
lnetctl set discovery 1
lnetctl udsp add --src efa --priority 0
modprobe lustre
"""


def unit(program: Path) -> str:
    """The systemd unit that runs the script before file systems of the network are mounted."""
    return f"""# Written by the lifecycle scripts.
[Unit]
Description=Lustre over EFA
Wants=network-online.target
After=network-online.target
Before=remote-fs-pre.target fsx.mount

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart={program}
TimeoutStartSec=110

[Install]
WantedBy=multi-user.target
"""
