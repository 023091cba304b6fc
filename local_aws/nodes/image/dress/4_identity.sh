#!/bin/bash
# Makes the user that HyperPod's nodes have, and removes whatever must differ from node to node.
set -euo pipefail

useradd --create-home --shell /bin/bash --uid 1000 ubuntu
echo "ubuntu ALL=(ALL) NOPASSWD:ALL" >/etc/sudoers.d/ubuntu
chmod 0440 /etc/sudoers.d/ubuntu
rm -f /etc/munge/munge.key /etc/ssh/ssh_host_* /etc/hostname /var/lib/dbus/machine-id
echo uninitialized >/etc/machine-id
rm -rf /root/dress /var/lib/apt/lists/* /var/cache/debconf/*-old /var/log/{dpkg,apt,bootstrap,alternatives}*
