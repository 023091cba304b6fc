"""Configure Lustre over EFA, as AWS documents for FSx clients, now and at every boot.

https://docs.aws.amazon.com/fsx/latest/LustreGuide/configure-efa-clients.html; the package that it offers is not downloaded:
a node must not depend on a download that can change. A systemd unit does the work, so that a reboot does the same.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError
from hyperpod_node.managed_file import put
from hyperpod_node.shell import last_lines

if TYPE_CHECKING:
    from hyperpod_node.system import System

UNIT = "lustre-over-efa.service"
EIGHT_INTERFACES = ("ml.p5.48xlarge", "ml.p5e.48xlarge", "ml.p5en.48xlarge", "ml.p6-b200.48xlarge", "ml.p6e-gb200.36xlarge")
INTERFACES = 2  # of all other types
PEER_CREDITS = 32
DEVICES = Path("/sys/class/infiniband")
ROUTES = Path("/proc/net/route")
PROGRAM = Path("/opt/hyperpod-cdk/lustre-over-efa.sh")
UNITS = Path("/etc/systemd/system")


def set_up(instance_type: str, system: System) -> None:
    """Configure Lustre's network to use this node's EFA devices, now and after a reboot."""
    if not (devices := efa_devices(system)):
        raise NodeError(f"no EFA device in {DEVICES}, though the type has EFA")
    system.run("modinfo", "kefalnd")  # the Lustre client's module for EFA: not every AMI has it
    chosen = spread(devices, 8 if instance_type in EIGHT_INTERFACES else INTERFACES)
    changed = put(system.path(PROGRAM), program(default_interface(system), chosen), mode=0o755)
    changed |= put(system.path(UNITS / UNIT), unit(PROGRAM))
    if changed:
        system.run("systemctl", "enable", UNIT)
    try:
        system.run("systemctl", "start", UNIT, timeout_s=120)
    except NodeError:
        output = system.run("journalctl", "--boot", "--unit", UNIT, "--lines", "5", "--output", "cat", "--no-pager")
        raise NodeError(f"{PROGRAM} failed: {last_lines(output)}") from None


def efa_devices(system: System) -> list[str]:
    """Return the names of this node's EFA devices."""
    folder = system.path(DEVICES)
    devices = folder.iterdir() if folder.is_dir() else ()
    return sorted(device.name for device in devices if (device / "device/driver").resolve().name == "efa")


def spread(devices: list[str], most: int) -> list[str]:
    """Return at most ``most`` devices, evenly spread: neighbours share a bus."""
    count = min(most, len(devices))
    return [devices[at * len(devices) // count] for at in range(count)]


def default_interface(system: System) -> str:
    """Return the interface of the default route, which Lustre uses for TCP."""
    for line in system.path(ROUTES).read_text().splitlines()[1:]:
        interface, destination = line.split()[:2]
        if destination == "00000000":
            return interface
    raise NodeError(f"no default route in {ROUTES}: no interface for Lustre over TCP")


def program(interface: str, devices: list[str]) -> str:
    """Return the shell script that configures Lustre's network; TCP comes first, so that it works even if EFA fails."""
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
    """Return the systemd unit that runs the script before network file systems are mounted."""
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
