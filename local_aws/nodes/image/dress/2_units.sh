#!/bin/bash
# Leaves systemd what a node needs. As on HyperPod, Slurm's units are there and none of them is enabled; munge is, as AWS's
# public scripts start Slurm's daemons and never munge.
set -euo pipefail

cp -r /root/dress/units/. /etc/systemd/system/
systemctl --quiet disable mariadb sackd slurmd slurmctld slurmdbd cron
# What a container cannot do, and what only slows its boot. (No tmp.mount: it would hide what the root volume has in /tmp.)
systemctl --quiet mask tmp.mount systemd-resolved systemd-timesyncd systemd-networkd console-getty getty.target \
    apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer fstrim.timer \
    systemd-journal-flush rpcbind.socket rpcbind.service nfs-client.target run-rpc_pipefs.mount
systemctl --quiet set-default multi-user.target
# As on Ubuntu: a boot empties /tmp.
echo "D! /tmp 1777 root root -" >/etc/tmpfiles.d/tmp.conf
