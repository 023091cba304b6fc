"""Run the scripts for this node's role; wait until slurm.conf names the controller."""

import json
import socket
import subprocess
import sys
import time
from pathlib import Path

SLURM_CONF = Path("/opt/slurm/etc/slurm.conf")


def main() -> None:
    """Find this node's role and run its scripts in order; the first failure ends the run."""
    groups, parameters = (json.loads(Path(name).read_text()) for name in sys.argv[1:])
    address = own_address()
    group = next(group for group in groups["InstanceGroups"] if address in addresses(group))
    role = role_of(group["Name"], parameters)
    heads = [each for each in groups["InstanceGroups"] if each["Name"] == parameters["controller_group"]]
    controllers = [found for each in heads for found in addresses(each)]
    run("install_packages.sh")
    run("mount_fsx.sh", parameters["fsx_dns_name"], parameters["fsx_mountname"], "/fsx")
    run("add_users.sh", "users.txt")
    run("make_ssh_keys.sh", "users.txt")
    if role == "controller":
        wait_for(controllers)
    run("start_slurm.sh", role, ",".join(controllers))


def own_address() -> str:
    """Return the address of the interface with the default route."""
    with socket.socket(type=socket.SOCK_DGRAM) as probe:
        probe.connect(("10.254.254.254", 1))
        return str(probe.getsockname()[0])


def addresses(group: dict) -> list[str]:
    """Return the addresses of a group's nodes; a group without nodes may have null instead of a list."""
    return [instance["CustomerIpAddress"] for instance in group.get("Instances") or []]


def role_of(name: str, parameters: dict) -> str:
    """Return the role of the group ``name``."""
    if name == parameters["controller_group"]:
        return "controller"
    return "login" if name == parameters.get("login_group") else "compute"


def wait_for(controllers: list[str]) -> None:
    """Wait until slurm.conf names all controllers."""
    while not all(f"({address})" in SLURM_CONF.read_text() for address in controllers):
        print(f"{SLURM_CONF} does not name {controllers} yet")
        time.sleep(1)


def run(script: str, *arguments: str) -> None:
    """Run a script of this folder with bash."""
    print(f"== {script}")
    subprocess.run(["bash", script, *arguments], check=True)


if __name__ == "__main__":
    main()
