#!/bin/bash
# Mounts Lustre now, and by systemd's automount for everyone else and after a reboot.
set -eux

dns_name=$1 mount_name=$2 path=$3
version=$(modinfo -F version lustre)
[[ $version == 2.* ]]
if modinfo -F version a_module_that_no_kernel_has; then
    echo "modinfo knows every module"
    exit 1
fi
mkdir -p "$path"
options=defaults,noatime,flock,_netdev,x-systemd.automount,x-systemd.requires=network-online.target
echo "$dns_name@tcp:/$mount_name $path lustre $options 0 0" >>/etc/fstab
mount "$path"
df --output=target "$path" | grep --line-regexp "$path"
systemctl daemon-reload
systemctl restart remote-fs.target
systemctl status fsx.automount
