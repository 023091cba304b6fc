"""Which cgroups a machine has, and what follows for its nodes."""

from pathlib import Path

from local_aws.nodes import cgroups

HYBRID = """\
tmpfs /sys/fs/cgroup tmpfs rw,relatime,mode=755 0 0
cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,nosuid,cpu,cpuacct 0 0
cgroup /sys/fs/cgroup/systemd cgroup rw,relatime,xattr,name=systemd 0 0
cgroup2 /sys/fs/cgroup/unified cgroup2 rw,relatime 0 0
"""
# Debian 12 and 13.
UNIFIED = """\
sysfs /sys sysfs rw,nosuid,nodev,noexec,relatime 0 0
cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid,nodev,noexec,relatime,nsdelegate,memory_recursiveprot 0 0
"""
PLACE = Path("/sys/fs/cgroup")


def test_hierarchies_of_version_1_are_found_with_their_own_options() -> None:
    found = cgroups.version_1(HYBRID)
    assert found == [(PLACE / "cpu,cpuacct", "cpu,cpuacct"), (PLACE / "systemd", "name=systemd")]


def test_a_machine_with_version_2_has_no_hierarchies_of_version_1() -> None:
    assert cgroups.version_1(UNIFIED) == []


def test_a_hub_mounts_version_2_only_where_version_1_has_its_place() -> None:
    assert not cgroups.is_mounted_at(PLACE, HYBRID)
    assert cgroups.is_mounted_at(PLACE, UNIFIED)


def test_the_hierarchy_of_version_2_is_found_wherever_it_is() -> None:
    assert cgroups.hierarchy(HYBRID) == PLACE / "unified"
    assert cgroups.hierarchy(UNIFIED) == PLACE
