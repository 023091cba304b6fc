#!/bin/bash
# Puts stand-ins where a container cannot have the real thing: clients of file systems, and kernel modules.
set -euo pipefail

stand_in() {  # FILE PROGRAM: PROGRAM is Debian's own until now, if there is one
    dpkg-divert --quiet --local --rename --divert "$2.real" --add "$2"
    install -m 0755 "/root/dress/stand_ins/$1" "$2"
}
for kind in lustre nfs nfs4; do
    stand_in mount_fsx.py "/usr/sbin/mount.$kind"
done
stand_in lfs /usr/bin/lfs
for program in lctl lnetctl modprobe modinfo; do
    stand_in kernel "/usr/sbin/$program"
done
