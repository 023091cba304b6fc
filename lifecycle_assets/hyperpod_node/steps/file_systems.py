"""Mount or check the cluster's file systems, hold the Lustre client, and choose the disk for containers."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node import lustre_efa, mount
from hyperpod_node.errors import NodeError

if TYPE_CHECKING:
    from hyperpod_node.context import Context
    from hyperpod_node.system import System

FSX, HOME = Path("/fsx"), Path("/home")
# As AWS documents (https://docs.aws.amazon.com/fsx/latest/LustreGuide/mount-fs-auto-mount-onreboot.html), with three differences.
# noatime: thousands of processes that read a data set must not cause writes. No automount: it hides a failed mount until a job
# needs it. network-online.target: AWS names the unit behind it, which differs between releases of the operating system.
LUSTRE_OPTIONS = "defaults,noatime,flock,_netdev,x-systemd.requires=network-online.target"
# AWS documents the options for its Slurm services (https://docs.aws.amazon.com/pcs/latest/userguide/working-with_file-systems.html)
# and the number of connections for OpenZFS (https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/performance.html).
ZFS_OPTIONS = "noatime,nfsvers=4.2,sync,nconnect=16,rsize=1048576,wsize=1048576,_netdev,x-systemd.requires=network-online.target"
NVME = Path("/opt/dlami/nvme")  # the AMI's stripe set of the instance's own disks
SECOND_VOLUME = Path("/opt/sagemaker")  # the EBS volume of the instance group
ROOT_VOLUME = Path("/var/lib")
LINK = Path("/opt/hyperpod-cdk/containers")
LUSTRE_CLIENT = "lustre-client-modules-aws"
DPKG_TIMEOUT_S = 120  # another program may install packages, and hold dpkg's lock


def apply_openzfs(context: Context, system: System) -> bool:
    """Mount the volume /fsx of the FSx for OpenZFS file system at /home, if there is one."""
    if not context.parameters.fsx_openzfs_dns_name:
        return False
    _mount(mount.FstabEntry(f"{context.parameters.fsx_openzfs_dns_name}:/fsx", HOME, "nfs", ZFS_OPTIONS), context, system)
    return True


def apply_fsx(context: Context, system: System) -> bool:
    """Mount the FSx for Lustre file system at /fsx, if there is one; the step for users logs where homes are otherwise."""
    parameters = context.parameters
    if not parameters.fsx_dns_name:
        return False
    if not parameters.fsx_mountname:
        raise NodeError(f"{parameters.path} has fsx_dns_name but no fsx_mountname; set both")
    _use_efa(context, system)
    source = f"{parameters.fsx_dns_name}@tcp:/{parameters.fsx_mountname}"
    _mount(mount.FstabEntry(source, FSX, "lustre", LUSTRE_OPTIONS), context, system)
    return True


def apply_hyperpod_mounts(context: Context, system: System) -> bool:
    """Wait for HyperPod's mounts of the request's InstanceStorageConfigs, and prove that they are writable, if there are any."""
    names = {FSX: context.parameters.fsx_dns_name, HOME: context.parameters.fsx_openzfs_dns_name}
    paths = [path for path, name in names.items() if name]
    for path in paths:
        mount.require(path, node=context.node.name, system=system)
    return bool(paths)


def hold_lustre_client(_: Context, system: System) -> bool:
    """Hold the package, if the image has it: its updates bring a kernel that may not mount /fsx after the next reboot.

    A failure does not fail the node.
    https://github.com/awslabs/awsome-distributed-ai (5.sagemaker-hyperpod, base-config/hotfix/hold-lustre-client.sh)
    """
    try:
        if "ok installed" not in system.run("dpkg-query", "--show", "--showformat=${Status}", LUSTRE_CLIENT):
            return False
    except NodeError:  # the image has no such package
        return False
    hold = partial(system.run, "dpkg", "--set-selections", stdin=f"{LUSTRE_CLIENT} hold\n")
    try:
        system.retry("dpkg's lock", hold, DPKG_TIMEOUT_S, first_pause_s=2, longest_pause_s=10)
    except NodeError as error:
        print(f"warning: {LUSTRE_CLIENT} is not held, and an update may bring a kernel that cannot mount /fsx: {error}")
    return True


def choose_container_disk(_: Context, system: System) -> None:
    """Create a folder for container images and layers on the best disk, and a link to it that is the same on all nodes."""
    disk = next((disk for disk in (NVME, SECOND_VOLUME) if mount.is_mounted(disk, system)), ROOT_VOLUME)
    folder, link = system.path(disk / "containers"), system.path(LINK)
    folder.mkdir(mode=0o755, parents=True, exist_ok=True)
    before = link.readlink() if link.is_symlink() else folder
    if before != folder or not link.is_symlink():
        link.parent.mkdir(parents=True, exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(folder)
    if before != folder:
        print(f"containers go to {folder}; {before} stays as it is")
    elif disk != NVME:
        print(f"no disk at {NVME}: containers go to {folder}")


def _mount(entry: mount.FstabEntry, context: Context, system: System) -> None:
    mount.mount(entry, node=context.node.name, nodes=len(context.cluster.instances), system=system)


def _use_efa(context: Context, system: System) -> None:
    """Configure Lustre over EFA; if that fails, the node uses TCP, which is slower."""
    if context.hardware is None or not context.hardware.efa:
        return
    try:
        lustre_efa.set_up(context.node.instance_type, system)
    except NodeError as error:
        print(f"warning: Lustre uses TCP instead of EFA on this {context.node.instance_type}: {error}")
