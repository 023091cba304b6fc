#!/bin/bash
# Sets up the systemd units of a node. As on HyperPod, Slurm's units exist but are disabled; munge is enabled, because AWS's
# public scripts start Slurm's daemons but never munge.
set -euo pipefail

cp -r /root/overlay/units/. /etc/systemd/system/
systemctl --quiet disable mariadb sackd slapd slurmd slurmctld slurmdbd sssd cron
# Units that fail in a container or only slow its boot. (No tmp.mount: it would hide the root volume's files in /tmp.)
systemctl --quiet mask tmp.mount systemd-resolved systemd-timesyncd systemd-networkd console-getty getty.target \
    apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer fstrim.timer \
    systemd-journal-flush rpcbind.socket rpcbind.service nfs-client.target run-rpc_pipefs.mount
systemctl --quiet set-default multi-user.target
# A boot empties /tmp, as on Ubuntu.
echo "D! /tmp 1777 root root -" >/etc/tmpfiles.d/tmp.conf
