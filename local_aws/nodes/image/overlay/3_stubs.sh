#!/bin/bash
# Installs stubs of programs that cannot work in a container: clients of file systems, and tools for kernel modules.
set -euo pipefail

install_stub() {  # FILE PROGRAM: diverts Debian's own PROGRAM, if it exists
    dpkg-divert --quiet --local --rename --divert "$2.real" --add "$2"
    install -m 0755 "/root/overlay/stubs/$1" "$2"
}
for kind in lustre nfs nfs4; do
    install_stub mount_fsx.py "/usr/sbin/mount.$kind"
done
install_stub lfs /usr/bin/lfs
for program in lctl lnetctl modprobe modinfo; do
    install_stub kernel "/usr/sbin/$program"
done
