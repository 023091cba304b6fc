import threading
import time

import pytest

from local_aws.nodes.hub import HostError, NodeSpec
from tests.nodes.machines.some_nodes import LUSTRE, OPENZFS, Nodes, comes

FSX = f"{LUSTRE}@tcp:/abcdefgh"


def test_a_reboot_keeps_files_but_empties_tmp(nodes: Nodes, node: NodeSpec) -> None:
    nodes.sh(node, "echo kept >/var/kept; touch /tmp/gone /tmp/.gone; mkdir /tmp/folder")

    nodes.hub.reboot(node.id)

    assert nodes.sh(node, "cat /var/kept; ls -A /tmp | grep -E 'gone|folder' || true") == ["kept"]


def test_each_boot_of_a_node_has_its_own_time(nodes: Nodes, node: NodeSpec) -> None:
    """slurmctld knows a reboot by it; this machine's is the same for all nodes."""
    look = "cut -d' ' -f1 /proc/uptime"
    [before] = nodes.sh(node, f"sleep 3; {look}")
    nodes.hub.reboot(node.id)
    [after] = nodes.sh(node, look)
    assert float(after) < float(before) < time.clock_gettime(time.CLOCK_BOOTTIME) - 1


def test_a_node_that_reboots_by_itself_comes_back(nodes: Nodes) -> None:
    node = nodes.boot()
    nodes.sh(node, "touch /run/before /var/before")

    nodes.sh(node, "systemd-run --quiet --on-active=300ms systemctl reboot")

    assert comes(lambda: files_before(nodes, node) == ["/var/before"])


def files_before(nodes: Nodes, node: NodeSpec) -> list[str]:
    try:
        return nodes.status(node, "ls -d /*/before")[0]
    except HostError:
        return []  # it is shutting down


def test_a_stopped_nodes_volume_is_gone_when_it_boots_again(nodes: Nodes) -> None:
    node = nodes.boot()
    nodes.sh(node, "touch /var/mine")

    nodes.hub.stop(node.id)
    nodes.hub.boot(node)

    assert nodes.sh(node, "ls /var/mine 2>/dev/null || echo gone") == ["gone"]


def test_a_node_that_is_being_stopped_can_be_booted_again(nodes: Nodes) -> None:
    node = nodes.boot()
    nodes.sh(node, "touch /var/mine")
    stop = threading.Thread(target=nodes.hub.stop, args=(node.id,))
    stop.start()

    assert comes(lambda: could_boot(nodes, node))
    stop.join(30)

    assert nodes.sh(node, "ls /var/mine 2>/dev/null || echo gone") == ["gone"]


def could_boot(nodes: Nodes, node: NodeSpec) -> bool:
    try:
        nodes.hub.boot(node)
    except HostError as error:
        assert "already exists" in str(error)  # noqa: PT017  # the stop has not come yet
        return False
    return True


def test_many_stops_at_once_are_as_good_as_one(nodes: Nodes) -> None:
    node = nodes.boot()
    stops = [threading.Thread(target=nodes.hub.stop, args=(node.id,)) for _ in range(4)]
    for stop in stops:
        stop.start()
    for stop in stops:
        stop.join(30)

    assert node.id not in nodes.hub.states()
    nodes.hub.boot(node)


def test_no_node_sees_what_another_wrote_on_its_volume(nodes: Nodes, node: NodeSpec) -> None:
    nodes.sh(node, "touch /usr/bin/mine; rm -f /usr/bin/wget")

    assert nodes.sh(nodes.boot(), "ls /usr/bin/mine 2>/dev/null; ls /usr/bin/wget") == ["/usr/bin/wget"]


def test_a_root_volume_can_be_full(nodes: Nodes) -> None:
    node = nodes.boot(disk_mib=64)

    lines, status = nodes.status(node, "LANG=C cat /dev/zero >/var/log/big")

    assert (lines, status) == (["cat: write error: No space left on device"], 1)
    assert nodes.sh(node, "df --output=size -m / | tail -1")[0].strip() == "64"


def test_a_file_system_is_shared_by_the_nodes_that_mount_it(nodes: Nodes, node: NodeSpec) -> None:
    other = nodes.boot()
    for one in (node, other):
        nodes.sh(one, f"mkdir -p /fsx && mount -t lustre -o noatime,flock {FSX} /fsx && mountpoint -q /fsx")

    nodes.sh(node, "echo shared >/fsx/file; chown 2000:2000 /fsx/file")

    assert nodes.sh(other, "cat /fsx/file; stat -c '%u %g' /fsx/file") == ["shared", "2000 2000"]
    assert "noatime" in nodes.sh(other, "findmnt -no OPTIONS /fsx")[0]


@pytest.mark.parametrize("folder", ["/suid", f"/run/simulated-fsx/{LUSTRE}/lustre/abcdefgh"])
def test_setuid_programs_and_devices_of_a_file_system_have_no_power(nodes: Nodes, node: NodeSpec, folder: str) -> None:
    nodes.sh(node, f"mkdir -p /suid && (mountpoint -q /suid || mount -t lustre -o rw,suid,dev {FSX} /suid)")
    nodes.sh(node, f"cd {folder} && cp /usr/bin/id id && chmod 4755 id && rm -f null && mknod -m 666 null c 1 3")
    assert nodes.sh(node, f"cd / && setpriv --reuid=65534 --clear-groups {folder}/id -u") == ["65534"]
    assert nodes.status(node, f"LANG=C cat {folder}/null") == ([f"cat: {folder}/null: Permission denied"], 1)


def test_a_file_system_of_fstab_is_mounted_at_boot(nodes: Nodes) -> None:
    node = nodes.boot()
    nodes.sh(node, f"echo '{FSX} /data lustre noatime,flock,_netdev 0 0' >>/etc/fstab")

    nodes.hub.reboot(node.id)

    assert nodes.status(node, "mountpoint -q /data") == ([], 0)


def test_an_automount_unit_mounts_a_file_system_at_the_first_access(nodes: Nodes) -> None:
    node = nodes.boot()
    options = "noatime,flock,_netdev,x-systemd.automount,x-systemd.requires=network-online.target"
    nodes.sh(node, f"mkdir /fsx; echo '{FSX} /fsx lustre {options} 0 0' >>/etc/fstab; systemctl daemon-reload")

    nodes.sh(node, "systemctl restart remote-fs.target")

    assert nodes.sh(node, "systemctl is-active fsx.automount fsx.mount || true") == ["active", "inactive"]
    assert nodes.sh(node, "ls /fsx >/dev/null && systemctl is-active fsx.mount") == ["active"]


def test_what_is_mounted_already_is_not_mounted_twice(nodes: Nodes) -> None:
    node = nodes.boot()
    nodes.sh(node, f"mkdir /m && mount -t lustre {FSX} /m")

    assert nodes.status(node, f"mount -t lustre {FSX} /m") == (
        [f"mount.lustre: according to /etc/mtab {FSX} is already mounted on /m"],
        17,
    )


def test_wrong_file_systems_are_refused_in_the_real_clients_words(nodes: Nodes) -> None:
    node = nodes.boot()
    nodes.sh(node, "mkdir /m")

    assert nodes.status(node, f"mount -t lustre {LUSTRE}@tcp:/wrong /m") == (
        [
            f"mount.lustre: mount {LUSTRE}@tcp:/wrong at /m failed: No such file or directory",
            "Is the MGS specification correct?",
            "Is the filesystem name correct?",
            "If upgrading, is the copied client log valid? (see upgrade docs)",
        ],
        2,
    )
    assert nodes.status(node, "mount -t lustre fs-0.fsx.us-west-2.amazonaws.com@tcp:/abcdefgh /m") == (
        ["mount.lustre: Can't parse NID 'fs-0.fsx.us-west-2.amazonaws.com@tcp:/abcdefgh'"],
        22,
    )


def test_an_openzfs_volume_is_mounted_by_its_path(nodes: Nodes) -> None:
    node = nodes.boot()
    nodes.sh(node, f"mkdir /m && mount -t nfs -o nfsvers=4.2 {OPENZFS}:/fsx/ /m && touch /m/x && umount /m")

    assert nodes.status(node, f"mount -t nfs {OPENZFS}:/other /m") == (
        [f"mount.nfs: mounting {OPENZFS}:/other failed, reason given by server: No such file or directory"],
        32,
    )
