#!/bin/bash
# Creates the user of HyperPod's nodes, and removes everything that must differ between nodes.
set -euo pipefail

useradd --create-home --shell /bin/bash --uid 1000 ubuntu
echo "ubuntu ALL=(ALL) NOPASSWD:ALL" >/etc/sudoers.d/ubuntu
chmod 0440 /etc/sudoers.d/ubuntu
rm -f /etc/munge/munge.key /etc/ssh/ssh_host_* /etc/hostname /var/lib/dbus/machine-id
echo uninitialized >/etc/machine-id
rm -rf /root/overlay /var/lib/apt/lists/* /var/cache/debconf/*-old /var/log/{dpkg,apt,bootstrap,alternatives}*
